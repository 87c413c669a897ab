// One accepted connection: handshake, then requests one after the other until either side closes. Everything runs on
// the connection's strand except the handler, which runs on a worker; meanwhile nothing is read from the peer.
#pragma once

#include "net/beast/registry.h"
#include "net/beast/tls_context.h"
#include "net/beast/worker_pool.h"
#include "net/server.h"

#include <boost/asio/ip/tcp.hpp>

#include <memory>

namespace muster::net::beast {

// What sessions share. Outlives them all.
struct SessionContext {
  const ServerLimits& limits;
  const Handler& handler;
  Registry& registry;
  WorkerPool& workers;
};

// The session owns itself from here on. `tls` null: plain HTTP.
void start_session(boost::asio::ip::tcp::socket socket, const SessionContext& shared, std::shared_ptr<TlsContext> tls);

}  // namespace muster::net::beast
