// TLS as values: what the client presents and trusts (Credentials), and the server's certificate with hot swap
// (CertificateStore). No OpenSSL type appears here; making certificates is net/tls_certs.h.
#pragma once

#include "base/result.h"
#include "base/time.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace muster::net {

// Text given inline or by a file that is read anew whenever it changes. Both empty: not given. Inline text wins.
struct TextSource {
  std::string text{};
  std::string file{};

  bool empty() const { return text.empty() && file.empty(); }

  // kUnavailable if the file cannot be read.
  Result<std::string> read() const;
};

inline TextSource from_text(std::string text) {
  return {.text = std::move(text)};
}

inline TextSource from_file(std::string file) {
  return {.file = std::move(file)};
}

// How to reach one API server and prove who we are. A plain value; any thread.
struct Credentials {
  std::string base_url{};         // "https://kubernetes.default.svc"; a path in it is prepended to every target
  std::string tls_server_name{};  // the name the certificate must carry, if it is not the URL's host
  TextSource ca{};                // PEM bundle, the only roots that are trusted; required for https
  TextSource client_certificate{};
  TextSource client_key{};
  TextSource token{};  // bearer token

  // Changes whenever one of the TLS files (not the token) does: by its inode, size and modification time.
  std::uint64_t generation() const;
};

// A certificate chain and its key, known to belong together.
struct TlsIdentity {
  std::string certificate_pem{};
  std::string key_pem{};
  TimePoint not_after{};
};

// Whose client certificates a server accepts: signed by one of `ca_pem`; if `allowed_names` is not empty, only with
// one of these common names.
struct ClientTrust {
  std::string ca_pem{};
  std::vector<std::string> allowed_names{};
};

// What a server presents and whom it trusts, replaceable while it serves: new connections use the new, open ones keep
// theirs. Thread-safe. Shared between the server and whoever renews the certificate.
class CertificateStore {
 public:
  struct State {
    TlsIdentity identity{};
    ClientTrust clients{};
    std::uint64_t generation = 0;  // grows with every change
  };

  // kInvalid if a text does not parse or the key does not fit: then the former pair stays and rejected() grows.
  Status set(std::string certificate_pem, std::string key_pem);
  Status trust_clients(ClientTrust trust);

  // Never null; before the first set() its identity is empty and handshakes fail.
  std::shared_ptr<const State> current() const;
  // How often set() or trust_clients() refused its argument; for a metric.
  std::uint64_t rejected() const;

 private:
  Status refuse(Error error);

  mutable std::mutex mutex_{};
  std::shared_ptr<const State> state_ = std::make_shared<const State>();  // guarded by mutex_
  std::uint64_t rejected_ = 0;                                            // guarded by mutex_
};

}  // namespace muster::net
