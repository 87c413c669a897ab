// TlsContexts: the asio TLS context made from a CertificateStore, rebuilt when the store has changed. Thread-safe.
#pragma once

#include "net/server.h"

#include <boost/asio/ssl/context.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace muster::net::beast {

struct TlsContext {
  boost::asio::ssl::context context{boost::asio::ssl::context::tls_server};
  std::vector<std::string> allowed_names{};
  ClientCertificates clients = ClientCertificates::kIgnore;
  std::uint64_t generation = 0;
};

class TlsContexts {
 public:
  TlsContexts(std::shared_ptr<const CertificateStore> store, ClientCertificates clients)
      : store_(std::move(store)), clients_(clients) {}

  // The present one; null if the store holds no certificate yet, or OpenSSL refuses it.
  std::shared_ptr<TlsContext> current();

 private:
  const std::shared_ptr<const CertificateStore> store_;
  const ClientCertificates clients_;
  std::mutex mutex_{};
  std::shared_ptr<TlsContext> context_{};  // guarded by mutex_
};

// Fills in the names of the certificate that the client of `ssl` has presented, if it verified against the context.
void fill_verified_peer(SSL* ssl, const TlsContext& context, Peer& peer);

}  // namespace muster::net::beast
