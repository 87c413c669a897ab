// The client backend on cpprestsdk: HTTP/1.1 over plain TCP or TLS (1.2 and later), towards one API server.
// Limits: IPv6 literals as host do not work in the library and are refused by make_transport() (use a DNS name, in a
// cluster `kubernetes.default.svc`); HTTP/1.1 costs one connection for each open stream; whatever the deadlines, a
// call ends after 30 s without a byte, a stream after 150 s.
#pragma once

#include "base/result.h"
#include "net/tls.h"
#include "net/transport.h"

#include <cstddef>
#include <memory>
#include <string>

namespace muster::net::cpprest {

struct TransportOptions {
  Credentials credentials{};
  std::string user_agent{"muster"};
  int concurrency = 16;                    // calls in flight; further callers wait. Streams do not count
  std::size_t response_bytes = 64U << 20;  // of one call's body; beyond it, kTooLarge
};

// Sizes the library's thread pool, once for the process, before any transport is made. Later calls do nothing.
void initialize(int threads = 8);

// kInvalid for a URL that cannot be used, an https URL without CA, or a certificate without key.
// The transport must outlive all calls, and be destroyed before main() returns.
Result<std::unique_ptr<Transport>> make_transport(TransportOptions options);

}  // namespace muster::net::cpprest
