#include "controllers/requests/replies.h"

#include "api/codec/failure.h"
#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

namespace muster::controllers {

Error error_of(const framework::ApiReply& reply) {
  Error error = api::error_of_reply(reply.status, reply.body);
  error.maybe_executed = reply.status >= 500;
  return error;
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
