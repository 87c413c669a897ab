#include "net/beast/tls_context.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/ssl/verify_context.hpp>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <algorithm>
#include <string_view>

namespace muster::net::beast {
namespace {

namespace ssl = boost::asio::ssl;

std::vector<std::string> names_of(X509* certificate, int nid) {
  std::vector<std::string> names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  for (int at = X509_NAME_get_index_by_NID(subject, nid, -1); at >= 0;
       at = X509_NAME_get_index_by_NID(subject, nid, at)) {
    unsigned char* text = nullptr;
    const int size = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    if (size >= 0) {
      names.emplace_back(reinterpret_cast<const char*>(text), static_cast<std::size_t>(size));
      OPENSSL_free(text);
    }
  }
  return names;
}

std::string common_name(X509* certificate) {
  const std::vector<std::string> names = names_of(certificate, NID_commonName);
  return names.size() == 1 ? names.front() : std::string();
}

bool is_allowed(const std::vector<std::string>& allowed, const std::string& name) {
  return !name.empty() && (allowed.empty() || std::find(allowed.begin(), allowed.end(), name) != allowed.end());
}

void ask_for_client_certificate(TlsContext& made, const ClientTrust& trust, ClientCertificates clients) {
  SSL_CTX* const native = made.context.native_handle();
  made.allowed_names = trust.allowed_names;
  if (!trust.ca_pem.empty()) {
    made.context.add_certificate_authority(boost::asio::buffer(trust.ca_pem));
  }
  if (clients == ClientCertificates::kRequest) {
    made.context.set_verify_mode(ssl::verify_peer);  // the session sets a callback that lets all pass and remembers
  } else {
    made.context.set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
    made.context.set_verify_callback([allowed = trust.allowed_names](bool verified, ssl::verify_context& context) {
      X509_STORE_CTX* const chain = context.native_handle();
      const bool leaf = X509_STORE_CTX_get_error_depth(chain) == 0;
      return verified && (!leaf || is_allowed(allowed, common_name(X509_STORE_CTX_get_current_cert(chain))));
    });
  }
  // Sessions with client certificates are resumable only within this context: a new trust starts afresh.
  constexpr std::string_view kSession = "muster";
  SSL_CTX_set_session_id_context(native, reinterpret_cast<const unsigned char*>(kSession.data()),
                                 static_cast<unsigned>(kSession.size()));
}

std::shared_ptr<TlsContext> make(const CertificateStore::State& state, ClientCertificates clients) {
  auto made = std::make_shared<TlsContext>();
  made->generation = state.generation;
  made->clients = clients;
  SSL_CTX* const native = made->context.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  made->context.use_certificate_chain(boost::asio::buffer(state.identity.certificate_pem));
  made->context.use_private_key(boost::asio::buffer(state.identity.key_pem), ssl::context::pem);
  if (clients != ClientCertificates::kIgnore) {
    ask_for_client_certificate(*made, state.clients, clients);
  }
  return made;
}

}  // namespace

std::shared_ptr<TlsContext> TlsContexts::current() {
  const std::lock_guard lock(mutex_);
  const std::shared_ptr<const CertificateStore::State> state = store_->current();
  if (state->identity.certificate_pem.empty()) {
    return nullptr;
  }
  if (context_ == nullptr || context_->generation != state->generation) {
    try {
      context_ = make(*state, clients_);
    } catch (const std::exception&) {
      // Parsed by the store but refused by OpenSSL (a key too weak for its security level): the former context stays.
    }
  }
  return context_;
}

void fill_verified_peer(SSL* native, const TlsContext& context, Peer& peer) {
  X509* const certificate = SSL_get0_peer_certificate(native);
  if (certificate == nullptr || SSL_get_verify_result(native) != X509_V_OK) {
    return;
  }
  const std::string name = common_name(certificate);
  if (is_allowed(context.allowed_names, name)) {
    peer.verified_cn = name;
    peer.verified_orgs = names_of(certificate, NID_organizationName);
  }
}

}  // namespace muster::net::beast
