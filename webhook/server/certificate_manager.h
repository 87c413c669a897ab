// CertificateManager: sees to it that the webhook (and the metrics endpoint) has a certificate that the API server
// trusts. Either its own, kept in a Secret that all replicas share and renewed in time, or files that somebody else
// (cert-manager) writes. Replicas may race on the Secret: whoever loses takes what the winner wrote.
//
// Owner: the manager. One thread of its own from start() to stop(); other methods from any thread.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "net/tls.h"
#include "webhook/server/report.h"

#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>

namespace muster::webhook {

struct CertificateOptions {
  bool self_made = true;   // internalCertManagement.enable
  std::string ns{};        // of Secret and Service
  std::string secret{};    // internalCertManagement.webhookSecretName
  std::string service{};   // internalCertManagement.webhookServiceName
  std::string cert_dir{};  // webhook.certDir, with tls.crt and tls.key, if not self-made
  Duration period = std::chrono::seconds(60);
};

class CertificateManager {
 public:
  CertificateManager(const client::ApiClient& api, CertificateOptions options, ReportProblem report);
  ~CertificateManager();
  CertificateManager(const CertificateManager&) = delete;
  CertificateManager& operator=(const CertificateManager&) = delete;

  void start();
  void stop();

  // What the servers present; empty until the first certificate is there.
  std::shared_ptr<const net::CertificateStore> store() const { return store_; }

  bool ready() const;
  // PEM; empty if there is none yet, or if the certificate is not ours.
  std::string ca_bundle() const;

  bool self_made() const { return options_.self_made; }

  // One round: what the thread does every period.
  Status check(TimePoint now);

 private:
  Status check_secret(TimePoint now);
  Status check_files();
  // Hands the pair to the servers, unless they have it.
  Status present(const std::string& certificate, const std::string& key);
  void run() noexcept;

  std::stop_source stop_{};
  client::ApiClient api_;
  CertificateOptions options_;
  ReportProblem report_;
  std::shared_ptr<net::CertificateStore> store_ = std::make_shared<net::CertificateStore>();
  mutable std::mutex mutex_{};
  std::string ca_bundle_{};  // guarded by mutex_
  std::jthread thread_{};
};

}  // namespace muster::webhook
