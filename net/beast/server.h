// The server backend on Boost.Beast and OpenSSL: HTTP/1.1 over plain TCP or TLS (1.2 and later).
#pragma once

#include "base/result.h"
#include "net/server.h"

#include <memory>

namespace muster::net::beast {

// Binds, and serves until the Server is destroyed. kInvalid for an address that does not parse, kUnavailable for one
// that cannot be bound.
Result<std::unique_ptr<Server>> make_server(ServerOptions options, Handler handler);

}  // namespace muster::net::beast
