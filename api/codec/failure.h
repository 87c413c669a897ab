// What the API server's refusals mean: a reply with its Kubernetes Status object becomes an Error. Pure; any thread.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"

#include <string>

namespace muster::api {

// For a reply of 400 and more. Uses the Status object in the body where there is one: its message, and the field of
// its first cause as the path. Without one the message quotes the beginning of the body.
Error error_of_reply(int http_status, const std::string& body);

// For a Status object that came in another way (an ERROR event of a watch).
Error error_of_status(const Json& status);

}  // namespace muster::api
