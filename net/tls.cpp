#include "net/tls.h"

#include "net/tls_certs.h"

#include <sys/stat.h>

#include <fstream>
#include <sstream>
#include <utility>

namespace muster::net {
namespace {

// Folds 64 bits into a running FNV-like hash.
void mix(std::uint64_t& hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x100000001b3ULL;
}

void mix_file(std::uint64_t& hash, const TextSource& source) {
  if (!source.text.empty() || source.file.empty()) {
    return;
  }

  struct stat info {};

  if (::stat(source.file.c_str(), &info) != 0) {
    mix(hash, 1);
    return;
  }
  mix(hash, static_cast<std::uint64_t>(info.st_ino));
  mix(hash, static_cast<std::uint64_t>(info.st_size));
  mix(hash, static_cast<std::uint64_t>(info.st_mtim.tv_sec));
  mix(hash, static_cast<std::uint64_t>(info.st_mtim.tv_nsec));
}

}  // namespace

Result<std::string> TextSource::read() const {
  if (!text.empty() || file.empty()) {
    return text;
  }
  std::ifstream in(file, std::ios::binary);
  std::ostringstream content;
  if (in.peek() != std::ifstream::traits_type::eof()) {
    content << in.rdbuf();
  }
  if (!in.is_open() || in.bad() || content.bad()) {
    return Error{.code = ErrorCode::kUnavailable, .message = "cannot read file " + file};
  }
  return content.str();
}

std::uint64_t Credentials::generation() const {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const TextSource* source : {&ca, &client_certificate, &client_key}) {
    mix_file(hash, *source);
  }
  return hash;
}

Status CertificateStore::refuse(Error error) {
  const std::lock_guard lock(mutex_);
  ++rejected_;
  return error;
}

Status CertificateStore::set(std::string certificate_pem, std::string key_pem) {
  if (Status pair = check_pair(certificate_pem, key_pem); !pair.ok()) {
    return refuse(pair.error());
  }
  auto expiry = certificate_expiry(certificate_pem);
  if (!expiry.ok()) {
    return refuse(expiry.error());
  }
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<State>(*state_);
  next->identity = {std::move(certificate_pem), std::move(key_pem), *expiry};
  ++next->generation;
  state_ = std::move(next);
  return {};
}

Status CertificateStore::trust_clients(ClientTrust trust) {
  if (auto count = count_certificates(trust.ca_pem); !count.ok()) {
    return refuse(count.error());
  }
  const std::lock_guard lock(mutex_);
  auto next = std::make_shared<State>(*state_);
  next->clients = std::move(trust);
  ++next->generation;
  state_ = std::move(next);
  return {};
}

std::shared_ptr<const CertificateStore::State> CertificateStore::current() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

std::uint64_t CertificateStore::rejected() const {
  const std::lock_guard lock(mutex_);
  return rejected_;
}

}  // namespace muster::net
