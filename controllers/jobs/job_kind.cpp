#include "controllers/jobs/job_kind.h"

#include "api/constants.h"

#include <charconv>
#include <utility>

namespace muster::controllers {

framework::EmitEvent job_event(const JobView& job, std::string_view reason, std::string note) {
  return {.regarding = job.ref, .reason = std::string(reason), .action = std::string(reason), .note = std::move(note)};
}

const std::string* queue_name_of(const api::ObjectMeta& meta) {
  const std::string* name = api::find(meta.labels, api::kQueueNameLabel);
  return name != nullptr && !name->empty() ? name : nullptr;
}

std::optional<std::int32_t> max_execution_seconds_of(const api::ObjectMeta& meta) {
  const std::string* text = api::find(meta.labels, api::kMaxExecTimeLabel);
  if (text == nullptr) {
    return std::nullopt;
  }
  std::int32_t seconds = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, seconds);
  if (error != std::errc{} || stop != end || seconds <= 0) {
    return std::nullopt;
  }
  return seconds;
}

}  // namespace muster::controllers
