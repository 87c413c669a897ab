#include "controllers/requests/one_shot_program.h"

#include "api/codec/encode.h"
#include "api/constants.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"
#include "controllers/requests/replies.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdint>
#include <string_view>

namespace muster::controllers {
namespace {

using api::Json;
using framework::ApiReply;
using framework::ApiRequest;
using framework::EmitEvent;
using framework::Kind;
using framework::ObjectRef;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

ApiRequest patch_status(const ObjectRef& ref, std::string_view content_type, Json status) {
  const Json body = {{"metadata", {{"uid", ref.uid.str()}}}, {"status", std::move(status)}};
  return {.method = "PATCH",
          .path = object_path(ref.kind, ref.key, "status"),
          .content_type = std::string(content_type),
          .body = api::dump_json(body),
          .replay_safe = true};
}

// A merge patch leaves out nothing: what the status does not have any more is null.
Json whole_queue_status(Json status) {
  for (const char* key : {"conditions", "flavorsReservation", "flavorsUsage", "pendingWorkloads", "reservingWorkloads",
                          "admittedWorkloads", "fairSharing"}) {
    if (!status.contains(key)) {
      status[key] = nullptr;
    }
  }
  return status;
}

std::string truncated(std::string note) {
  constexpr std::string_view kEllipsis = " ...";
  if (note.size() <= api::kMaxEventNote) {
    return note;
  }
  std::size_t end = api::kMaxEventNote - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(note[end]) & 0xC0u) == 0x80u) {
    --end;
  }
  note.resize(end);
  return note.append(kEllipsis);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : text) {
    hash = (hash ^ static_cast<std::uint8_t>(c)) * 1099511628211ull;
  }
  return hash;
}

// Equal events of one moment are one event: repeating the request after a lost answer adds none.
std::string event_name(const EmitEvent& event, TimePoint now) {
  constexpr std::size_t kMaxObjectName = 230;
  const std::string content = fmt::format("{}\n{}\n{}\n{}\n{}", event.regarding.uid.str(), event.reason, event.action,
                                          event.note, now.time_since_epoch().count());
  return fmt::format("{}.{:016x}", event.regarding.key.name.substr(0, kMaxObjectName), fnv1a(content));
}

// spec/api.md §7: who says it.
std::string_view controller_of(const EmitEvent& event) {
  constexpr std::array<std::string_view, 5> kOwn = {"EvictedDueTo", "MaximumExecutionTimeExceeded", "AdmissionGate",
                                                    "AdmissionCheck", "Deleted"};
  switch (event.regarding.kind) {
    case Kind::kJob:
      return "batch/job-kueue-controller";
    case Kind::kPod:
      return event.reason == "FailedScheduling" || event.reason == "Scheduled" || event.reason == "Preempted"
                 ? api::kSchedulerName
                 : "pod-kueue-controller";
    default:
      break;
  }
  for (const std::string_view prefix : kOwn) {
    if (event.reason.rfind(prefix, 0) == 0) {
      return "kueue-workload-controller";
    }
  }
  return "kueue-admission";
}

}  // namespace

Step OneShotProgram::resume(const Result<ApiReply>& reply) {
  if (!reply.ok()) {
    return ProgramFailed{.error = reply.error()};
  }
  const bool done_before =
      (reply->status == 404 && outcome_.absent_is_done) || (reply->status == 409 && outcome_.conflict_is_done);
  if (done_before) {
    return ProgramDone{};
  }
  if (!is_success(*reply)) {
    return ProgramFailed{.error = error_of(*reply)};
  }
  const auto object = api::parse_json(reply->body);
  return ProgramDone{.events = outcome_.events, .written_version = object.ok() ? version_of(*object) : std::string()};
}

OneShotProgram status_program(const framework::PatchClusterQueueStatus& effect) {
  return {patch_status(effect.queue, "application/merge-patch+json", whole_queue_status(api::encode(effect.status))),
          {.absent_is_done = true}};
}

OneShotProgram status_program(const framework::PatchCohortStatus& effect) {
  return {patch_status(effect.cohort, "application/merge-patch+json", api::encode(effect.status)),
          {.absent_is_done = true}};
}

OneShotProgram status_program(const framework::PatchLocalQueueStatus& effect) {
  return {patch_status(effect.queue, "application/merge-patch+json", whole_queue_status(api::encode(effect.status))),
          {.absent_is_done = true}};
}

OneShotProgram condition_program(const framework::PatchPodCondition& effect) {
  const Json status = {{"conditions", Json::array({api::encode(effect.condition)})}};
  return {patch_status(effect.pod, "application/strategic-merge-patch+json", status), {.absent_is_done = true}};
}

OneShotProgram delete_program(const framework::DeleteObject& effect) {
  const ObjectRef& ref = effect.object;
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "DeleteOptions"},
                     {"preconditions", {{"uid", ref.uid.str()}}},
                     {"propagationPolicy", "Background"}};
  OneShotProgram::Outcome outcome{.absent_is_done = true, .conflict_is_done = true};
  if (effect.event) {
    outcome.events.push_back(*effect.event);
  }
  return {{.method = "DELETE",
           .path = object_path(ref.kind, ref.key),
           .content_type = "application/json",
           .body = api::dump_json(body),
           .replay_safe = true},
          std::move(outcome)};
}

OneShotProgram event_program(const EmitEvent& effect, const std::string& instance, TimePoint now) {
  const ObjectRef& ref = effect.regarding;
  const std::string ns = ref.key.ns.empty() ? "default" : ref.key.ns;
  Json regarding = {{"apiVersion", std::string(api_version_of(ref.kind))},
                    {"kind", std::string(framework::to_string(ref.kind))},
                    {"name", ref.key.name},
                    {"uid", ref.uid.str()}};
  if (!ref.key.ns.empty()) {
    regarding["namespace"] = ref.key.ns;
  }
  const Json body = {{"apiVersion", "events.k8s.io/v1"},
                     {"kind", "Event"},
                     {"metadata", {{"name", event_name(effect, now)}, {"namespace", ns}}},
                     {"eventTime", format_rfc3339_micro(now)},
                     {"reportingController", std::string(controller_of(effect))},
                     {"reportingInstance", instance},
                     {"type", effect.warning ? "Warning" : "Normal"},
                     {"reason", effect.reason},
                     {"action", effect.action},
                     {"regarding", std::move(regarding)},
                     {"note", truncated(effect.note)}};
  return {{.method = "POST",
           .path = "/apis/events.k8s.io/v1/namespaces/" + ns + "/events",
           .content_type = "application/json",
           .body = api::dump_json(body),
           .replay_safe = true},
          {.conflict_is_done = true}};
}

}  // namespace muster::controllers
