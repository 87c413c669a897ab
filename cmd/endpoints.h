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
  void begin_shutdown() { shutting_down_.store(true); }
  void stop();

  // A change that admission must know of makes the next `publish_view` copy it.
  void note(const framework::Event& event);
  void publish_view(const framework::Core& core);
  void publish(const framework::Core& core, const client::ExecutorStats& stats, Duration settle_time);
  void publish_drift(std::size_t differences);

 private:
  Status start_webhooks();
  Status start_health();
  net::Response answer_probe(const net::ServerRequest& request) const;
  bool ready() const;
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
  std::unique_ptr<net::Server> health_{};
  bool view_stale_ = true;  // of the decision thread
  mutable std::mutex mutex_{};
  std::shared_ptr<const webhook::View> view_{};  // guarded by mutex_
};

// `host:port`, `:port`; "0" and the empty text mean off (no value). kInvalid for anything else.
Result<std::optional<net::ListenAddress>> parse_listen_address(const std::string& text);

}  // namespace muster::cmd
