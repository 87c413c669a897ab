#include "controllers/requests/bind_program.h"

#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"
#include "controllers/requests/replies.h"

#include <nlohmann/json.hpp>

#include <string>

namespace muster::controllers {

using api::Json;
using framework::ApiReply;
using framework::ApiRequest;
using framework::Kind;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

Step BindProgram::start() {
  reading_ = false;
  --binds_left_;
  const ObjectKey& key = effect_.pod.key;
  const Json body = {{"apiVersion", "v1"},
                     {"kind", "Binding"},
                     {"metadata", {{"namespace", key.ns}, {"name", key.name}, {"uid", effect_.pod.uid.str()}}},
                     {"target", {{"kind", "Node"}, {"name", effect_.node.str()}}}};
  return ApiRequest{.method = "POST",
                    .path = object_path(Kind::kPod, key, "binding"),
                    .content_type = "application/json",
                    .body = api::dump_json(body),
                    .replay_safe = true};
}

Step BindProgram::resume(const Result<ApiReply>& reply) {
  return reading_ ? on_read(reply) : on_bound(reply);
}

Step BindProgram::read() {
  reading_ = true;
  return ApiRequest{.method = "GET", .path = object_path(Kind::kPod, effect_.pod.key), .replay_safe = true};
}

Step BindProgram::on_bound(const Result<ApiReply>& reply) {
  if (reply.ok() && is_success(*reply)) {
    return ProgramDone{
        .events = {{.regarding = effect_.pod,
                    .reason = "Scheduled",
                    .action = "Binding",
                    .note = "Successfully assigned " + to_string(effect_.pod.key) + " to " + effect_.node.str()}}};
  }
  last_error_ = reply.ok() ? error_of(*reply) : reply.error();
  // A conflict may be our own lost answer: the pod says where it is.
  const bool look = last_error_.code == ErrorCode::kConflict || last_error_.code == ErrorCode::kAlreadyExists ||
                    is_uncertain(last_error_);
  return look ? read() : Step(ProgramFailed{.error = last_error_});
}

Step BindProgram::on_read(const Result<ApiReply>& reply) {
  const auto pod = body_of(reply);
  if (!pod.ok()) {
    return ProgramFailed{.error = pod.error()};
  }
  if (uid_of(*pod) != effect_.pod.uid.str()) {
    return ProgramFailed{
        .error = {.code = ErrorCode::kNotFound, .message = to_string(effect_.pod.key) + " is another pod now"}};
  }
  const std::string node = text_at(*pod, {"spec", "nodeName"});
  if (node == effect_.node.str()) {
    return ProgramDone{};
  }
  if (node.empty() && binds_left_ > 0 && is_uncertain(last_error_)) {
    return start();
  }
  return ProgramFailed{.error = last_error_};
}

}  // namespace muster::controllers
