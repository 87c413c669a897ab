#include "sim/durations.h"

#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

#include <string>

namespace muster::sim {

using api::Json;

Result<std::optional<Duration>> duration_annotation(const Json& object, const char* key) {
  const Json* text = controllers::find_at(object, {"metadata", "annotations", key});
  if (text == nullptr) {
    return std::optional<Duration>();
  }
  const auto duration = parse_duration(text->is_string() ? text->get<std::string>() : text->dump());
  if (!duration.ok() || *duration < Duration::zero()) {
    return invalid(duration.ok() ? "must not be negative" : duration.error().message,
                   std::string("metadata.annotations[") + key + "]");
  }
  return std::optional(*duration);
}

}  // namespace muster::sim
