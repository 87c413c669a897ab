// The webhook endpoint over TLS, with the real server backend.
#include "net/beast/server.h"
#include "net/cpprest/transport.h"
#include "net/tls_certs.h"
#include "webhook/server/certificates.h"
#include "webhook/server/webhook_server.h"

#include <gtest/gtest.h>

namespace muster::webhook {
namespace {

TimePoint now() {
  return std::chrono::floor<Duration>(std::chrono::system_clock::now());
}

CertificateSet a_set() {
  const auto set = bring_up_to_date({}, service_names("svc", "ns"), now());
  EXPECT_TRUE(set.ok());
  return *set;
}

struct Endpoint {
  CertificateSet set = a_set();
  std::shared_ptr<net::CertificateStore> store = std::make_shared<net::CertificateStore>();
  std::unique_ptr<WebhookServer> server{};

  Endpoint() {
    EXPECT_TRUE(store->set(set.certificate, set.key).ok());
    auto started = WebhookServer::start(
        {.host = "127.0.0.1", .port = 0}, store, [] { return std::make_shared<const PublishedView>(); },
        net::beast::make_server);
    EXPECT_TRUE(started.ok()) << to_string(started.error());
    server = std::move(*started);
  }

  std::unique_ptr<net::Transport> client() const {
    net::cpprest::initialize();
    auto transport =
        net::cpprest::make_transport({.credentials = {.base_url = "https://127.0.0.1:" + std::to_string(server->port()),
                                                      .tls_server_name = "svc.ns.svc",
                                                      .ca = net::from_text(set.ca_bundle)}});
    EXPECT_TRUE(transport.ok()) << to_string(transport.error());
    return std::move(*transport);
  }
};

net::Request a_review(std::string body) {
  return {.method = "POST",
          .target = "/mutate-batch-v1-job?timeout=10s",
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(body)};
}

TEST(LiveWebhook, AnswersUnderTheNameOfTheService) {
  const Endpoint endpoint;
  const auto response = endpoint.client()->call(
      a_review(
          R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"u","operation":)"
          R"("CREATE","object":{"kind":"Job","metadata":{"labels":{"kueue.x-k8s.io/queue-name":"q"}},"spec":{}}}})"),
      {});
  ASSERT_TRUE(response.ok()) << to_string(response.error());
  EXPECT_EQ(response->status, 200);
  EXPECT_NE(response->body.find("\"patchType\":\"JSONPatch\""), std::string::npos) << response->body;
}

TEST(LiveWebhook, RefusesTenMegabytes) {
  const Endpoint endpoint;
  const auto response = endpoint.client()->call(a_review(std::string(10U << 20, 'x')), {});
  ASSERT_TRUE(response.ok()) << to_string(response.error());
  EXPECT_EQ(response->status, 413);
}

TEST(LiveWebhook, ServesARenewedCertificateWithoutARestart) {
  Endpoint endpoint;
  endpoint.set = a_set();  // another CA
  ASSERT_TRUE(endpoint.store->set(endpoint.set.certificate, endpoint.set.key).ok());
  const auto response = endpoint.client()->call(a_review("{"), {});
  ASSERT_TRUE(response.ok()) << to_string(response.error());
  EXPECT_EQ(response->status, 400);
}

}  // namespace
}  // namespace muster::webhook
