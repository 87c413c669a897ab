#include "webhook/server/certificate_manager.h"

#include "client/clock.h"
#include "client/paths.h"
#include "webhook/server/certificates.h"
#include "webhook/server/periodic.h"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace muster::webhook {
namespace {

constexpr int kRaces = 3;  // lost to other replicas in a row

Error about(Error error, const std::string& what) {
  error.message = what + ": " + error.message;
  return error;
}

}  // namespace

CertificateManager::CertificateManager(const client::ApiClient& api, CertificateOptions options, ReportProblem report)
    : api_(api.with_stop(stop_.get_token())), options_(std::move(options)), report_(std::move(report)) {}

CertificateManager::~CertificateManager() {
  stop();
}

void CertificateManager::start() {
  thread_ = std::jthread([this] { run(); });
}

void CertificateManager::stop() {
  stop_.request_stop();
  thread_ = {};
}

bool CertificateManager::ready() const {
  return !store_->current()->identity.certificate_pem.empty();
}

std::string CertificateManager::ca_bundle() const {
  const std::lock_guard lock(mutex_);
  return ca_bundle_;
}

Status CertificateManager::check(TimePoint now) {
  return options_.self_made ? check_secret(now) : check_files();
}

Status CertificateManager::check_secret(TimePoint now) {
  const std::string path =
      client::object_path({.group = "", .version = "v1", .plural = "secrets"}, options_.ns, options_.secret);
  const std::string what = "secret " + options_.ns + "/" + options_.secret;
  for (int attempt = 0; attempt < kRaces; ++attempt) {
    const auto secret = api_.get(path);
    if (!secret.ok()) {
      return about(secret.error(), what);
    }
    const CertificateSet found = read_secret(*secret);
    const auto wanted = bring_up_to_date(found, service_names(options_.service, options_.ns), now);
    if (!wanted.ok()) {
      return about(wanted.error(), what);
    }
    if (*wanted != found) {
      const auto written = api_.replace(path, write_secret(*secret, *wanted));
      if (!written.ok() && written.error().code == ErrorCode::kConflict) {
        continue;
      }
      if (!written.ok()) {
        return about(written.error(), what);
      }
    }
    MUSTER_RETURN_IF_ERROR(present(wanted->certificate, wanted->key));
    const std::lock_guard lock(mutex_);
    ca_bundle_ = wanted->ca_bundle;
    return {};
  }
  return Error{.code = ErrorCode::kConflict, .message = what + ": other replicas keep changing it"};
}

Status CertificateManager::check_files() {
  const auto certificate = net::from_file(options_.cert_dir + "/tls.crt").read();
  if (!certificate.ok()) {
    return certificate.error();
  }
  const auto key = net::from_file(options_.cert_dir + "/tls.key").read();
  if (!key.ok()) {
    return key.error();
  }
  return present(*certificate, *key);
}

Status CertificateManager::present(const std::string& certificate, const std::string& key) {
  const auto current = store_->current();
  const bool same = current->identity.certificate_pem == certificate && current->identity.key_pem == key;
  return same ? Status{} : store_->set(certificate, key);
}

void CertificateManager::run() noexcept {
  run_periodically(stop_.get_token(), options_.period, report_, [this] { return check(client::wall_now()); });
}

}  // namespace muster::webhook
