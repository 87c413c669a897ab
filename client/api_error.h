// What a refusal of the API server means for its caller. Pure; any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "net/transport.h"

#include <optional>

namespace muster::client {

// For a reply of 400 and more.
Error error_of(const net::Response& response);

// Retry-After in seconds, at most five minutes; nothing if absent or not a number.
std::optional<Duration> retry_after(const net::Headers& headers);

}  // namespace muster::client
