#include "webhook/server/webhook_server.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <thread>
#include <utility>

namespace muster::webhook {
namespace {

constexpr std::chrono::milliseconds kLookAgain{25};

net::Response plain(int status, std::string text) {
  return {.status = status, .headers = {{"Content-Type", "text/plain; charset=utf-8"}}, .body = std::move(text)};
}

bool is_json(const net::ServerRequest& request) {
  const std::string* type = net::find_header(request.headers, "Content-Type");
  if (type == nullptr) {
    return false;
  }
  std::string media_type = type->substr(0, type->find(';'));
  media_type.erase(media_type.find_last_not_of(" \t") + 1);
  std::transform(media_type.begin(), media_type.end(), media_type.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return media_type == "application/json";
}

int status_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::kInvalid:
      return 400;
    case ErrorCode::kNotFound:
      return 404;
    case ErrorCode::kTooLarge:
      return 413;
    case ErrorCode::kUnavailable:
      return 503;
    default:
      return 500;
  }
}

// Asks again while the view lags behind the API server, which has just sent us an object of a namespace that we do not
// know: the namespace's watch event is on its way.
Result<std::string> review_patiently(const net::ServerRequest& request, const WebhookServerOptions& options,
                                     const ViewSource& views) {
  const auto deadline = std::chrono::steady_clock::now() + options.patience;
  while (true) {
    const std::shared_ptr<const View> view = views();
    Result<std::string> answer =
        view == nullptr ? Result<std::string>(Error{.code = ErrorCode::kUnavailable, .message = "not ready yet"})
                        : review(request.path, request.body, *view, options.admission);
    if (answer.ok() || answer.error().code != ErrorCode::kUnavailable || std::chrono::steady_clock::now() >= deadline) {
      return answer;
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

}  // namespace

net::Response serve(const net::ServerRequest& request, const WebhookServerOptions& options, const ViewSource& views) {
  if (!is_endpoint(request.path)) {
    return plain(404, "no webhook at this path\n");
  }
  if (request.method != "POST") {
    net::Response response = plain(405, "an AdmissionReview is sent with POST\n");
    response.headers.emplace_back("Allow", "POST");
    return response;
  }
  if (!is_json(request)) {
    return plain(415, "Content-Type must be application/json\n");
  }
  Result<std::string> answer = review_patiently(request, options, views);
  if (!answer.ok()) {
    return plain(status_of(answer.error()), to_string(answer.error()) + "\n");
  }
  return {.status = 200, .headers = {{"Content-Type", "application/json"}}, .body = std::move(answer).value()};
}

Result<std::unique_ptr<WebhookServer>> WebhookServer::start(WebhookServerOptions options,
                                                            std::shared_ptr<const net::CertificateStore> certificates,
                                                            ViewSource views, const net::ServerFactory& make_server) {
  net::ServerOptions listen{
      .listen = {{.host = options.host.empty() ? std::string("::") : options.host, .port = options.port}},
      .certificates = std::move(certificates)};
  MUSTER_TRY(server, make_server(std::move(listen),
                                 [options = std::move(options), views = std::move(views)](
                                     const net::ServerRequest& request) { return serve(request, options, views); }));
  return std::unique_ptr<WebhookServer>(new WebhookServer(std::move(server)));
}

}  // namespace muster::webhook
