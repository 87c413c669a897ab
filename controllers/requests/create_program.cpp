#include "controllers/requests/create_program.h"

#include "api/codec/decode.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"
#include "controllers/requests/replies.h"
#include "controllers/requests/workload_json.h"

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

}  // namespace

Step CreateProgram::start() {
  return ApiRequest{.method = "GET", .path = object_path(effect_.job.kind, effect_.job.key), .replay_safe = true};
}

Step CreateProgram::resume(const Result<ApiReply>& reply) {
  switch (state_) {
    case State::kReadingJob:
      return on_job(reply);
    case State::kCreating:
      return on_created(reply);
    case State::kReadingWorkload:
      return on_existing(reply);
  }
  return ProgramFailed{};
}

Step CreateProgram::on_job(const Result<ApiReply>& reply) {
  const auto job = body_of(reply);
  if (!job.ok()) {
    return ProgramFailed{.error = job.error()};
  }
  if (uid_of(*job) != effect_.job.uid.str() || find_at(*job, {"metadata", "deletionTimestamp"}) != nullptr) {
    return ProgramFailed{
        .error = {.code = ErrorCode::kNotFound, .message = "the job " + to_string(effect_.job.key) + " is gone"}};
  }
  body_ = api::dump_json(new_workload(effect_, *job, label_keys_));
  return create();
}

Step CreateProgram::create() {
  state_ = State::kCreating;
  --creations_left_;
  return ApiRequest{.method = "POST",
                    .path = collection_path(Kind::kWorkload, effect_.job.key.ns),
                    .content_type = "application/json",
                    .body = body_,
                    .replay_safe = true};
}

Step CreateProgram::on_created(const Result<ApiReply>& reply) {
  const auto body = body_of(reply);
  if (body.ok()) {
    ProgramDone done{.workload = decoded(*body)};
    if (effect_.event) {
      done.events.push_back(*effect_.event);
    }
    return done;
  }
  const Error& error = body.error();
  if (error.code != ErrorCode::kAlreadyExists && error.code != ErrorCode::kConflict && !is_uncertain(error)) {
    return ProgramFailed{.error = error};
  }
  state_ = State::kReadingWorkload;
  return ApiRequest{
      .method = "GET", .path = object_path(Kind::kWorkload, {effect_.job.key.ns, effect_.name}), .replay_safe = true};
}

Step CreateProgram::on_existing(const Result<ApiReply>& reply) {
  const auto body = body_of(reply);
  if (!body.ok()) {
    const bool again = body.error().code == ErrorCode::kNotFound && creations_left_ > 0;
    return again ? create() : ProgramFailed{.error = body.error()};
  }
  auto workload = decoded(*body);
  const api::OwnerReference* owner = workload == nullptr ? nullptr : api::controller_of(workload->meta);
  if (owner != nullptr && owner->uid == effect_.job.uid) {
    return ProgramDone{.workload = std::move(workload)};
  }
  return ProgramFailed{
      .error = {.code = ErrorCode::kAlreadyExists,
                .message = "a Workload " + effect_.job.key.ns + "/" + effect_.name + " of somebody else exists"}};
}

}  // namespace muster::controllers
