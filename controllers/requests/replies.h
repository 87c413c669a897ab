// Reading what the API server answered. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "framework/request.h"

#include <optional>
#include <string>

namespace muster::controllers {

inline bool is_success(const framework::ApiReply& reply) {
  return reply.status >= 200 && reply.status < 300;
}

// The Error of a reply that is no success: its code from the HTTP status, its message from the Status object.
Error error_of(const framework::ApiReply& reply);
// After such an error the request may have been carried out, or may be worth repeating.
bool is_uncertain(const Error& error);

// The JSON body of a success, the Error otherwise.
Result<api::Json> body_of(const Result<framework::ApiReply>& reply);
// metadata.uid and metadata.resourceVersion, or empty.
std::string uid_of(const api::Json& object);
std::string version_of(const api::Json& object);

}  // namespace muster::controllers
