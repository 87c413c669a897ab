#include "controllers/requests/edit_program.h"

#include "api/codec/decode.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"
#include "controllers/requests/replies.h"

#include <nlohmann/json.hpp>

#include <memory>
#include <utility>

namespace muster::controllers {

using api::Json;
using framework::ApiReply;
using framework::ApiRequest;
using framework::ProgramDone;
using framework::ProgramFailed;
using framework::Step;

Step EditProgram::start() {
  return read(other_ ? State::kReadingOther : State::kReading);
}

Step EditProgram::resume(const Result<ApiReply>& reply) {
  switch (state_) {
    case State::kReadingOther:
      return on_other(reply);
    case State::kReading:
      return on_object(reply);
    case State::kWriting:
      return on_written(reply);
  }
  return ProgramFailed{};
}

Step EditProgram::read(State state) {
  state_ = state;
  const framework::ObjectRef& ref = state == State::kReadingOther ? *other_ : object_;
  return ApiRequest{.method = "GET", .path = object_path(ref.kind, ref.key), .replay_safe = true};
}

Step EditProgram::on_other(const Result<ApiReply>& reply) {
  auto body = body_of(reply);
  if (!body.ok() && body.error().code != ErrorCode::kNotFound) {
    return ProgramFailed{.error = body.error()};
  }
  if (body.ok() && uid_of(*body) == other_->uid.str()) {
    other_found_ = *std::move(body);
  }
  return read(State::kReading);
}

Step EditProgram::on_object(const Result<ApiReply>& reply) {
  auto body = body_of(reply);
  if (!body.ok()) {
    return body.error().code == ErrorCode::kNotFound ? gone(body.error()) : ProgramFailed{.error = body.error()};
  }
  return advance(*std::move(body));
}

Step EditProgram::on_written(const Result<ApiReply>& reply) {
  auto body = body_of(reply);
  if (body.ok()) {
    refused_.reset();
    to_tell_ = to_tell_ || tells_;
    return last_ ? done(*body) : advance(*std::move(body));
  }
  if (body.error().code == ErrorCode::kNotFound) {
    return gone(body.error());
  }
  refused_ = body.error();  // of this attempt; an earlier one whose answer was lost may have done it
  return read(State::kReading);
}

Step EditProgram::advance(Json object) {
  if (uid_of(object) != object_.uid.str()) {
    return gone({.code = ErrorCode::kNotFound, .message = to_string(object_.key) + " is another object now"});
  }
  auto edit = next_edit({.object = &object, .other = other_found_ ? &*other_found_ : nullptr});
  if (!edit.ok()) {
    return ProgramFailed{.error = edit.error()};
  }
  if (!edit->has_value()) {
    return done(object);
  }
  const bool worth_repeating = !refused_ || refused_->code == ErrorCode::kConflict || is_uncertain(*refused_);
  return worth_repeating ? write(object, **edit) : ProgramFailed{.error = *refused_};
}

Step EditProgram::write(const Json& before, const Edit& edit) {
  Json patch = merge_diff(before, edit.object);
  if (patch.empty()) {
    return done(before);
  }
  if (--writes_left_ < 0) {
    return ProgramFailed{.error = refused_.value_or(Error{.code = ErrorCode::kConflict,
                                                         .message = "too many attempts to change an object"})};
  }
  object_at(patch, {"metadata"})["uid"] = object_.uid.str();
  object_at(patch, {"metadata"})["resourceVersion"] = version_of(before);
  state_ = State::kWriting;
  tells_ = edit.tells;
  last_ = edit.last;
  return ApiRequest{.method = "PATCH",
                    .path = object_path(object_.kind, object_.key, edit.subresource),
                    .content_type = "application/merge-patch+json",
                    .body = api::dump_json(patch),
                    .replay_safe = true};
}

Step EditProgram::done(const Json& object) const {
  ProgramDone result;
  if (writes_left_ < kMaxWrites) {
    result.written_version = version_of(object);
  }
  if (object_.kind == framework::Kind::kWorkload) {
    if (auto workload = api::decode<api::Workload>(object); workload.ok()) {
      result.workload = std::make_shared<const api::Workload>(*std::move(workload));
    }
  }
  if (to_tell_ && event_) {
    result.events.push_back(*event_);
  }
  return result;
}

Step EditProgram::gone(const Error& error) const {
  return absent_ == Absent::kIsDone ? Step(ProgramDone{}) : Step(ProgramFailed{.error = error});
}

}  // namespace muster::controllers
