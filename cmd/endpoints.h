// What the manager serves and keeps up beside deciding: admission webhooks with their certificates and configuration
// objects, health, metrics. A shell of shells; everything it shows is published by the decision thread.
//
// Owner: run_manager. start, begin_shutdown and stop by the owner; publish from the decision thread.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "api/config/configuration.h"
#include "client/api_client.h"
#include "client/executor.h"
#include "framework/core.h"
#include "net/server.h"
#include "net/transport.h"
#include "server/access_gate.h"
#include "server/health_server.h"
#include "server/metrics.h"
#include "server/metrics_server.h"
#include "server/workload_changes.h"
#include "webhook/options.h"
#include "webhook/server/certificate_manager.h"
#include "webhook/server/configuration_keeper.h"
#include "webhook/server/webhook_server.h"
#include "webhook/view.h"

namespace muster::cmd {

class Endpoints {
 public:
  // `transport` must outlive this.
  Endpoints(const api::Configuration& configuration, std::string own_namespace, net::Transport& transport,
            bool serve_webhooks);
  ~Endpoints();
  Endpoints(const Endpoints&) = delete;
  Endpoints& operator=(const Endpoints&) = delete;

  // `caches_ready` is asked for readiness besides certificates and listeners.
  Status start(std::function<bool()> caches_ready);
  // From the moment on which this replica leads, it alone keeps the webhook configuration objects in line.
  void begin_leading(const std::string& role);
  void begin_shutdown() { shutting_down_.store(true); }
  void stop();

  // Before the event is applied: counts what it says, and remembers whether admission must know of it.
  void note(const framework::Event& event, const framework::Model& before);
  void publish_view(const framework::Core& core);
  // After a settle: what was decided and how long it took; the gauges at most once a second.
  void publish(const framework::Core& core, const client::ExecutorStats& stats, Duration settle_time);
  void publish_trace(const framework::Trace& trace) { metrics_.count_cycles(trace); }
  void publish_drift(std::size_t differences) { metrics_.set_drift(differences); }
  void set_role(const std::string& role) { metrics_.set_role(role); }

 private:
  Status start_webhooks();
  Status start_metrics(const net::ListenAddress& address);
  Status start_health();
  Status check_caches() const;
  Status check_webhooks() const;
  std::shared_ptr<const webhook::View> view() const;

  const api::Configuration& configuration_;
  std::string own_namespace_;
  client::ApiClient api_;
  bool serve_webhooks_;
  std::function<bool()> caches_ready_{};
  std::atomic<bool> shutting_down_ = false;
  webhook::CertificateManager certificates_;
  webhook::ConfigurationKeeper keeper_;
  std::unique_ptr<webhook::WebhookServer> webhooks_{};
  server::Metrics metrics_;
  server::AccessGate gate_;
  std::unique_ptr<server::MetricsServer> metrics_server_{};
  std::unique_ptr<server::HealthServer> health_{};
  std::size_t events_since_settle_ = 0;    // of the decision thread
  client::MonoTime next_summary_{};        // of the decision thread
  bool view_stale_ = true;  // of the decision thread
  mutable std::mutex mutex_{};
  std::shared_ptr<const webhook::View> view_{};  // guarded by mutex_
};

// `host:port`, `:port`; "0" and the empty text mean off (no value). kInvalid for anything else.
Result<std::optional<net::ListenAddress>> parse_listen_address(const std::string& text);

}  // namespace muster::cmd
