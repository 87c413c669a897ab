// How a program hands the server backend to the parts that serve: net::beast::make_server, or a test's own.
#pragma once

#include "base/result.h"
#include "net/server.h"

#include <functional>
#include <memory>

namespace muster::net {

using ServerFactory = std::function<Result<std::unique_ptr<Server>>(ServerOptions, Handler)>;

}  // namespace muster::net
