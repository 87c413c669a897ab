#include "cmd/endpoints.h"

#include <spdlog/spdlog.h>

#include <charconv>
#include <optional>

#include "api/constants.h"
#include "net/beast/server.h"

namespace muster::cmd {

namespace {

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
              [](const Error& error) { warn("webhook configuration", error); }) {}

Endpoints::~Endpoints() { stop(); }

Status Endpoints::start(std::function<bool()> caches_ready) {
  caches_ready_ = std::move(caches_ready);
  MUSTER_RETURN_IF_ERROR(start_health());
  return serve_webhooks_ ? start_webhooks() : Status{};
}

Status Endpoints::start_webhooks() {
  certificates_.start();
  auto server = webhook::WebhookServer::start(
      {.host = configuration_.webhook.host,
       .port = static_cast<std::uint16_t>(configuration_.webhook.port),
       .admission = webhook::options_from(configuration_, own_namespace_)},
      certificates_.store(), [this] { return view(); }, net::beast::make_server);
  if (!server.ok()) {
    return at_path(server.error(), "webhook");
  }
  webhooks_ = std::move(*server);
  keeper_.start();
  return {};
}

Status Endpoints::start_health() {
  MUSTER_TRY(address, parse_listen_address(configuration_.health.bind_address));
  if (!address) {
    return {};
  }
  auto server = net::beast::make_server({.listen = {*address}, .limits = {.body_bytes = 1024, .connections = 64}, .workers = 1},
                                        [this](const net::ServerRequest& request) { return answer_probe(request); });
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
  certificates_.stop();
  health_.reset();
}

bool Endpoints::ready() const {
  return !shutting_down_.load() && caches_ready_() && (!serve_webhooks_ || (certificates_.ready() && view() != nullptr));
}

net::Response Endpoints::answer_probe(const net::ServerRequest& request) const {
  const auto named = [&](const std::string& name) { return request.path == "/" + name; };
  if (named(configuration_.health.liveness_endpoint)) {
    return {.status = 200, .body = "ok"};
  }
  if (named(configuration_.health.readiness_endpoint)) {
    return ready() ? net::Response{.status = 200, .body = "ok"} : net::Response{.status = 503, .body = "not ready"};
  }
  return {.status = 404, .body = "not found"};
}

std::shared_ptr<const webhook::View> Endpoints::view() const {
  const std::lock_guard lock(mutex_);
  return view_;
}

void Endpoints::note(const framework::Event& event) {
  const auto* object = std::get_if<framework::ObjectEvent>(&event);
  if (object == nullptr) {
    return;
  }
  view_stale_ = view_stale_ || std::visit(
                                   [](const auto& e) {
                                     using T = std::decay_t<decltype(*e.object)>;
                                     return std::is_same_v<T, api::Namespace> || std::is_same_v<T, api::LocalQueue> ||
                                            std::is_same_v<T, api::WorkloadPriorityClass>;
                                   },
                                   *object);
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

void Endpoints::publish(const framework::Core& /*core*/, const client::ExecutorStats& /*stats*/,
                        Duration /*settle_time*/) {}

void Endpoints::publish_drift(std::size_t /*differences*/) {}

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
