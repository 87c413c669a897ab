#include "net/cpprest/tls_material.h"

#include "net/tls_certs.h"

#include <boost/asio/buffer.hpp>
#include <openssl/ssl.h>

#include <utility>

namespace muster::net::cpprest {

Result<std::shared_ptr<TlsMaterial>> TlsMaterial::create(const Credentials& credentials) {
  const std::shared_ptr<TlsMaterial> material(new TlsMaterial(credentials));
  const std::uint64_t generation = credentials.generation();
  MUSTER_TRY(texts, material->read());
  material->texts_ = std::make_shared<const Texts>(std::move(texts));
  material->generation_ = generation;
  return material;
}

Result<TlsMaterial::Texts> TlsMaterial::read() const {
  MUSTER_TRY(ca, credentials_.ca.read());
  MUSTER_TRY(certificate, credentials_.client_certificate.read());
  MUSTER_TRY(key, credentials_.client_key.read());
  if (auto roots = count_certificates(ca); !roots.ok()) {
    return at_path(roots.error(), "ca");
  }
  if (!certificate.empty() || !key.empty()) {
    if (const Status pair = check_pair(certificate, key); !pair.ok()) {
      return at_path(pair.error(), "clientCertificate");
    }
  }
  return Texts{std::move(ca), std::move(certificate), std::move(key)};
}

std::shared_ptr<const TlsMaterial::Texts> TlsMaterial::current() {
  // Before the read: a file that changes meanwhile is read again next time.
  const std::uint64_t generation = credentials_.generation();
  const std::lock_guard lock(mutex_);
  if (generation != generation_) {
    if (auto texts = read(); texts.ok()) {
      texts_ = std::make_shared<const Texts>(std::move(texts).value());
      generation_ = generation;
    }
  }
  return texts_;
}

void TlsMaterial::apply(boost::asio::ssl::context& context) {
  const std::shared_ptr<const Texts> texts = current();
  SSL_CTX* const native = context.native_handle();
  SSL_CTX_set_cert_store(native, X509_STORE_new());  // drops the system roots that the library has put there
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  context.add_certificate_authority(boost::asio::buffer(texts->ca));
  if (!texts->certificate.empty()) {
    context.use_certificate_chain(boost::asio::buffer(texts->certificate));
    context.use_private_key(boost::asio::buffer(texts->key), boost::asio::ssl::context::pem);
  }
}

}  // namespace muster::net::cpprest
