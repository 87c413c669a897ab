#include "net/conformance/channel.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <utility>

namespace muster::net::conformance {
namespace {

std::unique_ptr<BIO, decltype(&BIO_free_all)> text_bio(const std::string& text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), &BIO_free_all};
}

bool use_identity(SSL_CTX* context, const PemPair& identity) {
  const auto certificate_text = text_bio(identity.certificate_pem);
  const auto key_text = text_bio(identity.key_pem);
  X509* const certificate = PEM_read_bio_X509(certificate_text.get(), nullptr, nullptr, nullptr);
  EVP_PKEY* const key = PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr);
  const bool good = SSL_CTX_use_certificate(context, certificate) == 1 && SSL_CTX_use_PrivateKey(context, key) == 1;
  X509_free(certificate);
  EVP_PKEY_free(key);
  return good;
}

void trust(SSL_CTX* context, const std::string& ca_pem) {
  const auto text = text_bio(ca_pem);
  X509* const certificate = PEM_read_bio_X509(text.get(), nullptr, nullptr, nullptr);
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context), certificate);
  X509_free(certificate);
}

// OpenSSL writes to its socket without MSG_NOSIGNAL. Masked for the test's own threads only: code under test must cope.
void block_sigpipe() {
  sigset_t pipe{};
  ::sigemptyset(&pipe);
  ::sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
}

}  // namespace

void Channel::SslDeleter::operator()(SSL* ssl) const {
  SSL_free(ssl);
}

void Channel::ContextDeleter::operator()(SSL_CTX* context) const {
  SSL_CTX_free(context);
}

Channel::Channel(int fd) : fd_(fd) {
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  ::setsockopt(fd_, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  const int on = 1;
  ::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Channel::~Channel() {
  close();
  ::close(fd_);
}

std::unique_ptr<Channel> Channel::connect(const std::string& address, std::uint16_t port) {
  const bool v6 = address.find(':') != std::string::npos;
  const int fd = ::socket(v6 ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return nullptr;
  }
  sockaddr_in6 to6{};
  sockaddr_in to4{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(port);
  to4.sin_family = AF_INET;
  to4.sin_port = htons(port);
  void* const target = v6 ? static_cast<void*>(&to6.sin6_addr) : static_cast<void*>(&to4.sin_addr);
  ::inet_pton(v6 ? AF_INET6 : AF_INET, address.c_str(), target);
  const auto* where = v6 ? reinterpret_cast<const sockaddr*>(&to6) : reinterpret_cast<const sockaddr*>(&to4);
  if (::connect(fd, where, v6 ? sizeof to6 : sizeof to4) != 0) {
    ::close(fd);
    return nullptr;
  }
  return std::make_unique<Channel>(fd);
}

bool Channel::accept_tls(const ServerTls& tls) {
  block_sigpipe();
  context_.reset(SSL_CTX_new(TLS_server_method()));
  if (!use_identity(context_.get(), tls.identity)) {
    return false;
  }
  if (!tls.client_ca_pem.empty()) {
    trust(context_.get(), tls.client_ca_pem);
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  }
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_fd(ssl_.get(), fd_);
  const bool done = SSL_accept(ssl_.get()) == 1;
  ERR_clear_error();
  return done;
}

bool Channel::connect_tls(const ClientTls& tls) {
  block_sigpipe();
  context_.reset(SSL_CTX_new(TLS_client_method()));
  trust(context_.get(), tls.ca_pem);
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
  if (!tls.identity.key_pem.empty() && !use_identity(context_.get(), tls.identity)) {
    return false;
  }
  ssl_.reset(SSL_new(context_.get()));
  SSL_set_fd(ssl_.get(), fd_);
  const bool done = SSL_connect(ssl_.get()) == 1;
  ERR_clear_error();
  return done;
}

std::string Channel::peer_common_name() const {
  X509* const certificate = ssl_ == nullptr ? nullptr : SSL_get0_peer_certificate(ssl_.get());
  std::array<char, 256> name{};
  if (certificate != nullptr) {
    X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name.data(), name.size());
  }
  return name.data();
}

bool Channel::send(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t sent = 0;
    if (ssl_ != nullptr) {
      sent = SSL_write(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
      ERR_clear_error();
    } else {
      sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    }
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

bool Channel::fill() {
  std::array<char, 16384> bytes{};
  ssize_t got = 0;
  if (ssl_ != nullptr) {
    got = SSL_read(ssl_.get(), bytes.data(), static_cast<int>(bytes.size()));
    ERR_clear_error();
  } else {
    got = ::recv(fd_, bytes.data(), bytes.size(), 0);
  }
  if (got > 0) {
    buffer_.append(bytes.data(), static_cast<std::size_t>(got));
  }
  return got > 0;
}

std::string Channel::receive_until(std::string_view mark) {
  std::size_t at = 0;
  while ((at = buffer_.find(mark)) == std::string::npos) {
    if (!fill()) {
      return std::exchange(buffer_, {});
    }
  }
  return receive_exactly(at + mark.size());
}

std::string Channel::receive_exactly(std::size_t count) {
  while (buffer_.size() < count && fill()) {
  }
  std::string result = buffer_.substr(0, count);
  buffer_.erase(0, result.size());
  return result;
}

std::string Channel::receive_message() {
  std::string message = receive_until("\r\n\r\n");
  if (message.find("\r\n\r\n") == std::string::npos) {
    return {};
  }
  constexpr std::string_view kLength = "content-length:";
  std::string lower = message;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  if (const std::size_t at = lower.find(kLength); at != std::string::npos) {
    message += receive_exactly(std::strtoul(lower.c_str() + at + kLength.size(), nullptr, 10));
  }
  return message;
}

std::string Channel::receive_all() {
  while (fill()) {
  }
  return std::exchange(buffer_, {});
}

bool Channel::wait_readable(int limit_ms) {
  pollfd item{.fd = fd_, .events = POLLIN, .revents = 0};
  return ::poll(&item, 1, limit_ms) == 1;
}

bool Channel::wait_closed(int limit_ms) {
  while (wait_readable(limit_ms)) {
    std::array<char, 4096> bytes{};
    if (::recv(fd_, bytes.data(), bytes.size(), MSG_DONTWAIT) <= 0) {
      return true;
    }
  }
  return false;
}

void Channel::close() {
  if (ssl_ != nullptr) {
    SSL_shutdown(ssl_.get());
    ERR_clear_error();
    ssl_.reset();
  }
  ::shutdown(fd_, SHUT_RDWR);
}

void Channel::shut_down() {
  ::shutdown(fd_, SHUT_RDWR);
}

int status_of(std::string_view response) {
  constexpr std::string_view kVersion = "HTTP/1.1 ";
  return response.substr(0, kVersion.size()) == kVersion
             ? std::atoi(std::string(response.substr(kVersion.size(), 3)).c_str())
             : 0;
}

}  // namespace muster::net::conformance
