#include "controllers/requests/replies.h"

#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

namespace muster::controllers {
namespace {

ErrorCode code_of(int status, std::string_view reason) {
  switch (status) {
    case 400:
    case 405:
    case 415:
    case 422:
      return ErrorCode::kInvalid;
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 413:
      return ErrorCode::kTooLarge;
    case 429:
      return ErrorCode::kThrottled;
    default:
      return status >= 500 ? ErrorCode::kUnavailable : ErrorCode::kInternal;
  }
}

}  // namespace

Error error_of(const framework::ApiReply& reply) {
  const auto body = api::parse_json(reply.body);
  const std::string message = body.ok() ? text_at(*body, {"message"}) : std::string();
  const std::string reason = body.ok() ? text_at(*body, {"reason"}) : std::string();
  return {.code = code_of(reply.status, reason),
          .message = message.empty() ? "HTTP status " + std::to_string(reply.status) : message,
          .maybe_executed = reply.status >= 500};
}

bool is_uncertain(const Error& error) {
  return error.maybe_executed || error.code == ErrorCode::kUnavailable || error.code == ErrorCode::kTimeout ||
         error.code == ErrorCode::kThrottled;
}

Result<api::Json> body_of(const Result<framework::ApiReply>& reply) {
  if (!reply.ok()) {
    return reply.error();
  }
  if (!is_success(*reply)) {
    return error_of(*reply);
  }
  return api::parse_json(reply->body);
}

std::string uid_of(const api::Json& object) {
  return text_at(object, {"metadata", "uid"});
}

std::string version_of(const api::Json& object) {
  return text_at(object, {"metadata", "resourceVersion"});
}

}  // namespace muster::controllers
