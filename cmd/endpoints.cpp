#include "cmd/endpoints.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <optional>

#include "api/constants.h"
#include "cmd/version.h"
#include "net/beast/server.h"
#include "server/summary.h"

namespace muster::cmd {

namespace {

constexpr Duration kSummaryPeriod = std::chrono::seconds(1);

void warn(const char* part, const Error& error) { spdlog::warn("{}: {}", part, to_string(error)); }

webhook::CertificateOptions certificate_options(const api::Configuration& configuration, const std::string& ns) {
  return {.self_made = configuration.internal_cert_management.enable,
          .ns = ns,
          .secret = configuration.internal_cert_management.webhook_secret_name,
          .service = configuration.internal_cert_management.webhook_service_name,
          .cert_dir = configuration.webhook.cert_dir};
}

// What admission may know, copied from the core at rest.
std::shared_ptr<const webhook::View> view_of(const framework::Objects& objects) {
  auto view = std::make_shared<webhook::PublishedView>();
  for (const auto& [key, ns] : objects.all<api::Namespace>().all()) {
    view->namespaces.emplace(key.name, ns->meta.labels);
  }
  for (const auto& [key, queue] : objects.all<api::LocalQueue>().all()) {
    if (key.name == api::kDefaultLocalQueue) {
      view->default_queues.insert(key.ns);
    }
  }
  view->default_priority_class = objects.find<api::WorkloadPriorityClass>({{}, "default"}) != nullptr;
  return view;
}

bool concerns_admission(const framework::ObjectEvent& event) {
  return std::visit(
      [](const auto& e) {
        using T = std::decay_t<decltype(*e.object)>;
        return std::is_same_v<T, api::Namespace> || std::is_same_v<T, api::LocalQueue> ||
               std::is_same_v<T, api::WorkloadPriorityClass>;
      },
      event);
}

}  // namespace

Endpoints::Endpoints(const api::Configuration& configuration, std::string own_namespace, net::Transport& transport,
                     bool serve_webhooks)
    : configuration_(configuration),
      own_namespace_(std::move(own_namespace)),
      api_(transport),
      serve_webhooks_(serve_webhooks),
      certificates_(api_, certificate_options(configuration, own_namespace_),
                    [](const Error& error) { warn("webhook certificate", error); }),
      keeper_(api_, configuration, own_namespace_,
              {.self_made = configuration.internal_cert_management.enable,
               .pem_bundle = [this] { return certificates_.ca_bundle(); }},
              [](const Error& error) { warn("webhook configuration", error); }),
      metrics_({.cluster_queue_resources = configuration.metrics.enable_cluster_queue_resources,
                .local_queues = configuration.metrics.local_queue_metrics,
                .version = kVersion}),
      gate_(api_) {}

Endpoints::~Endpoints() { stop(); }

Status Endpoints::start(std::function<bool()> caches_ready) {
  caches_ready_ = std::move(caches_ready);
  MUSTER_RETURN_IF_ERROR(start_health());
  MUSTER_TRY(metrics_address, parse_listen_address(configuration_.metrics.bind_address));
  if (serve_webhooks_ || metrics_address) {
    certificates_.start();
  }
  if (metrics_address) {
    MUSTER_RETURN_IF_ERROR(start_metrics(*metrics_address));
  }
  return serve_webhooks_ ? start_webhooks() : Status{};
}

Status Endpoints::start_metrics(const net::ListenAddress& address) {
  auto server = server::MetricsServer::start(address, certificates_.store(), metrics_, gate_, net::beast::make_server);
  if (!server.ok()) {
    return at_path(server.error(), "metrics.bindAddress");
  }
  metrics_server_ = std::move(*server);
  return {};
}

Status Endpoints::start_webhooks() {
  auto server = webhook::WebhookServer::start(
      {.host = configuration_.webhook.host,
       .port = static_cast<std::uint16_t>(configuration_.webhook.port),
       .admission = webhook::options_from(configuration_, own_namespace_)},
      certificates_.store(), [this] { return view(); }, net::beast::make_server);
  if (!server.ok()) {
    return at_path(server.error(), "webhook");
  }
  webhooks_ = std::move(*server);
  return {};
}

void Endpoints::begin_leading(const std::string& role) {
  metrics_.set_role(role);
  if (serve_webhooks_) {
    keeper_.start();
  }
}

Status Endpoints::start_health() {
  MUSTER_TRY(address, parse_listen_address(configuration_.health.bind_address));
  if (!address) {
    return {};
  }
  const std::vector<server::HealthEndpoint> endpoints = {
      {.path = "/" + configuration_.health.liveness_endpoint},
      {.path = "/" + configuration_.health.readiness_endpoint,
       .checks = {{.name = "caches", .run = [this] { return check_caches(); }},
                  {.name = "webhooks", .run = [this] { return check_webhooks(); }}}}};
  auto server = server::HealthServer::start(*address, endpoints, net::beast::make_server);
  if (!server.ok()) {
    return at_path(server.error(), "health.healthProbeBindAddress");
  }
  health_ = std::move(*server);
  return {};
}

void Endpoints::stop() {
  keeper_.stop();
  if (webhooks_ != nullptr) {
    webhooks_->drain(std::chrono::seconds(5));
    webhooks_.reset();
  }
  metrics_server_.reset();
  certificates_.stop();
  health_.reset();
}

Status Endpoints::check_caches() const {
  if (shutting_down_.load()) {
    return Error{.code = ErrorCode::kUnavailable, .message = "shutting down"};
  }
  if (!caches_ready_()) {
    return Error{.code = ErrorCode::kUnavailable, .message = "the first lists are not complete"};
  }
  return {};
}

Status Endpoints::check_webhooks() const {
  if (!serve_webhooks_ || (certificates_.ready() && view() != nullptr)) {
    return {};
  }
  return Error{.code = ErrorCode::kUnavailable, .message = "no certificate to serve yet"};
}

std::shared_ptr<const webhook::View> Endpoints::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void Endpoints::note(const framework::Event& event, const framework::Model& before) {
  ++events_since_settle_;
  for (const server::WorkloadChange& change : server::changes(event, before)) {
    metrics_.count(change);
  }
  if (const auto* object = std::get_if<framework::ObjectEvent>(&event)) {
    view_stale_ = view_stale_ || concerns_admission(*object);
  }
}

void Endpoints::publish_view(const framework::Core& core) {
  if (!view_stale_) {
    return;
  }
  view_stale_ = false;
  auto fresh = view_of(core.model().objects());
  const std::lock_guard lock(mutex_);
  view_ = std::move(fresh);
}

void Endpoints::publish(const framework::Core& core, const client::ExecutorStats& stats, Duration settle_time) {
  metrics_.count_settle(settle_time, events_since_settle_);
  events_since_settle_ = 0;
  const client::MonoTime now = client::mono_now();
  if (now < next_summary_) {
    return;
  }
  next_summary_ = now + kSummaryPeriod;
  metrics_.set_writes(stats);
  metrics_.publish(server::summarize(core, configuration_.metrics.enable_cluster_queue_resources
                                               ? server::QuotaLines::kFill
                                               : server::QuotaLines::kLeaveOut));
}

Result<std::optional<net::ListenAddress>> parse_listen_address(const std::string& text) {
  if (text.empty() || text == "0") {
    return std::optional<net::ListenAddress>{};
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return invalid("\"" + text + "\" must be of the form host:port or :port");
  }
  std::uint16_t port = 0;
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data() + colon + 1, end, port);
  if (error != std::errc{} || at != end) {
    return invalid("\"" + text + "\" has no valid port");
  }
  std::string host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']') {
    host = host.substr(1, host.size() - 2);
  }
  return std::optional<net::ListenAddress>(
      net::ListenAddress{.host = host.empty() ? "::" : (host == "localhost" ? "127.0.0.1" : host), .port = port});
}

}  // namespace muster::cmd
