#include "controllers/requests/status_program.h"

#include "api/codec/decode.h"
#include "api/codec/encode.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"
#include "controllers/requests/replies.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::controllers {

using api::Json;
using framework::ApiReply;
using framework::ApiRequest;
using framework::Kind;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

namespace {

std::shared_ptr<const api::Workload> decoded(const Json& object) {
  auto workload = api::decode<api::Workload>(object);
  return workload.ok() ? std::make_shared<const api::Workload>(*std::move(workload)) : nullptr;
}

// What the API server would give back for this status: seconds, canonical quantities.
api::WorkloadStatus as_stored(const api::WorkloadStatus& status) {
  const auto workload = decoded({{"metadata", {{"name", "x"}, {"namespace", "x"}}},
                                 {"spec", {{"podSets", Json::array()}}},
                                 {"status", api::encode(status)}});
  return workload == nullptr ? status : workload->status;
}

}  // namespace

Step StatusProgram::resume(const Result<ApiReply>& reply) {
  return reading_ ? on_read(reply) : on_written(reply);
}

Step StatusProgram::write() {
  reading_ = false;
  --writes_left_;
  const framework::ObjectRef& ref = effect_.workload;
  Json body = {{"apiVersion", std::string(api_version_of(Kind::kWorkload))},
               {"kind", "Workload"},
               {"metadata", {{"name", ref.key.name}, {"namespace", ref.key.ns}, {"uid", ref.uid.str()}}},
               {"status", api::encode(effect_.status)}};
  if (!effect_.resource_version.empty()) {
    body["metadata"]["resourceVersion"] = effect_.resource_version;
  }
  return ApiRequest{
      .method = "PATCH",
      .path = object_path(Kind::kWorkload, ref.key, "status") + "?fieldManager=kueue-admission&force=true",
      .content_type = "application/apply-patch+yaml",
      .body = api::dump_json(body),
      .replay_safe = true};
}

Step StatusProgram::read() {
  reading_ = true;
  return ApiRequest{.method = "GET", .path = object_path(Kind::kWorkload, effect_.workload.key), .replay_safe = true};
}

Step StatusProgram::on_written(const Result<ApiReply>& reply) {
  auto body = body_of(reply);
  if (body.ok()) {
    if (auto workload = decoded(*body)) {
      return ProgramDone{.workload = std::move(workload), .events = effect_.events};
    }
    return read();
  }
  last_error_ = body.error();
  return read();
}

Step StatusProgram::on_read(const Result<ApiReply>& reply) {
  auto body = body_of(reply);
  if (!body.ok()) {
    return body.error().code == ErrorCode::kNotFound ? Step(ProgramFailed{.error = body.error()}) : read();
  }
  auto workload = decoded(*body);
  if (workload == nullptr) {
    return ProgramFailed{.error = {.code = ErrorCode::kInternal, .message = "unreadable Workload"}};
  }
  const bool same_object = workload->meta.uid == effect_.workload.uid;
  if (same_object && workload->status == as_stored(effect_.status)) {
    return ProgramDone{.workload = std::move(workload), .events = effect_.events};
  }
  const bool untouched = same_object && workload->meta.resource_version == effect_.resource_version;
  if (untouched && writes_left_ > 0 && is_uncertain(last_error_)) {
    return write();
  }
  return ProgramFailed{.error = last_error_, .workload = std::move(workload)};
}

}  // namespace muster::controllers
