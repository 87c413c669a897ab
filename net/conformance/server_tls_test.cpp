// Items 9 and 10 of the suite: the server's certificate and its clients'.
#include "net/conformance/server_fixture.h"

#include <string>

namespace muster::net::conformance {
namespace {

// "cn=… orgs=…" of the peer that the handler sees.
Response who(const ServerRequest& request) {
  std::string text = "cn=" + request.peer.verified_cn;
  for (const std::string& organisation : request.peer.verified_orgs) {
    text += " o=" + organisation;
  }
  return {.status = 200, .body = text};
}

// The body of the answer; empty if there was none.
std::string ask(std::uint16_t port, const ClientTls& tls) {
  const auto channel = Channel::connect("127.0.0.1", port);
  if (channel == nullptr || !channel->connect_tls(tls) || !channel->send(request_text("GET", "/"))) {
    return {};
  }
  const std::string response = channel->receive_message();
  return status_of(response) == 200 ? response.substr(response.find("\r\n\r\n") + 4) : std::string();
}

std::string presented_name(std::uint16_t port, const std::string& ca_pem) {
  const auto channel = Channel::connect("127.0.0.1", port);
  return channel != nullptr && channel->connect_tls({.ca_pem = ca_pem}) ? channel->peer_common_name() : std::string();
}

TEST(ServerTlsCertificate, ASwapServesTheNextConnection) {
  const TestCa ca;
  const auto store = store_with(ca.serving("first").identity);
  const auto server = serve(local_tls(store));
  const auto open = Channel::connect("127.0.0.1", server->port());
  ASSERT_TRUE(open->connect_tls({.ca_pem = ca.ca.certificate_pem}));
  EXPECT_EQ(presented_name(server->port(), ca.ca.certificate_pem), "first");

  const PemPair second = ca.serving("second").identity;
  ASSERT_TRUE(store->set(second.certificate_pem, second.key_pem).ok());
  EXPECT_EQ(presented_name(server->port(), ca.ca.certificate_pem), "second");
  open->send(request_text("GET", "/"));
  EXPECT_EQ(status_of(open->receive_message()), 200) << "open connections live on";
}

TEST(ServerTlsCertificate, ABrokenPairKeepsTheOldOneAndCounts) {
  const TestCa ca;
  const PemPair good = ca.serving("good").identity;
  const PemPair other = ca.serving("other").identity;
  const auto store = store_with(good);
  const auto server = serve(local_tls(store));
  EXPECT_FALSE(store->set(other.certificate_pem, good.key_pem).ok());
  EXPECT_FALSE(store->set("garbage", good.key_pem).ok());
  EXPECT_FALSE(store->set(good.certificate_pem, "").ok());
  EXPECT_EQ(store->rejected(), 3U);
  EXPECT_EQ(presented_name(server->port(), ca.ca.certificate_pem), "good");
}

TEST(ServerTlsCertificate, WithoutOneNobodyIsServedUntilItComes) {
  const TestCa ca;
  const auto store = std::make_shared<CertificateStore>();
  const auto server = serve(local_tls(store));
  EXPECT_EQ(presented_name(server->port(), ca.ca.certificate_pem), "");
  const PemPair identity = ca.serving("late").identity;
  ASSERT_TRUE(store->set(identity.certificate_pem, identity.key_pem).ok());
  EXPECT_EQ(presented_name(server->port(), ca.ca.certificate_pem), "late");
}

struct ClientCase {
  std::string name{};
  ClientCertificates mode = ClientCertificates::kRequire;
  std::string common_name{};  // empty: presents no certificate
  bool trusted_ca = true;
  bool expired = false;
  std::string want{};  // empty: refused
};

class ServerTlsClient : public ::testing::TestWithParam<ClientCase> {};

TEST_P(ServerTlsClient, IsKnownOrRefused) {
  const ClientCase& c = GetParam();
  const TestCa ca;
  const TestCa other("other-ca");
  const auto store = store_with(ca.serving().identity);
  ASSERT_TRUE(store->trust_clients({.ca_pem = ca.ca.certificate_pem, .allowed_names = {"front-proxy", "second"}}).ok());
  ServerOptions options = local_tls(store);
  options.client_certificates = c.mode;
  const auto server = serve(options, who);
  ClientTls tls{.ca_pem = ca.ca.certificate_pem};
  if (!c.common_name.empty()) {
    const Validity past{.not_before = wall_now() - std::chrono::hours(3), .lifetime = std::chrono::hours(1)};
    tls.identity = make_client_certificate((c.trusted_ca ? ca : other).ca,
                                           {.common_name = c.common_name, .organisations = {"a", "b"}},
                                           c.expired ? past : valid_now())
                       .value();
  }
  EXPECT_EQ(ask(server->port(), tls), c.want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ServerTlsClient,
    ::testing::Values(
        ClientCase{.name = "required_right", .common_name = "front-proxy", .want = "cn=front-proxy o=a o=b"},
        ClientCase{.name = "required_wrong_name", .common_name = "stranger"}, ClientCase{.name = "required_none"},
        ClientCase{.name = "required_wrong_ca", .common_name = "front-proxy", .trusted_ca = false},
        ClientCase{.name = "required_expired", .common_name = "front-proxy", .expired = true},
        ClientCase{.name = "requested_right",
                   .mode = ClientCertificates::kRequest,
                   .common_name = "second",
                   .want = "cn=second o=a o=b"},
        ClientCase{.name = "requested_wrong_name",
                   .mode = ClientCertificates::kRequest,
                   .common_name = "stranger",
                   .want = "cn="},
        ClientCase{.name = "requested_none", .mode = ClientCertificates::kRequest, .want = "cn="},
        ClientCase{.name = "requested_wrong_ca",
                   .mode = ClientCertificates::kRequest,
                   .common_name = "front-proxy",
                   .trusted_ca = false,
                   .want = "cn="},
        ClientCase{.name = "requested_expired",
                   .mode = ClientCertificates::kRequest,
                   .common_name = "front-proxy",
                   .expired = true,
                   .want = "cn="},
        ClientCase{
            .name = "ignored", .mode = ClientCertificates::kIgnore, .common_name = "front-proxy", .want = "cn="}),
    [](const auto& row) { return row.param.name; });

TEST(ServerTlsClients, TheTrustCanBeReplaced) {
  const TestCa first("first-ca");
  const TestCa second("second-ca");
  const auto store = store_with(first.serving().identity);
  ASSERT_TRUE(store->trust_clients({.ca_pem = first.ca.certificate_pem}).ok());
  ServerOptions options = local_tls(store);
  options.client_certificates = ClientCertificates::kRequire;
  const auto server = serve(options, who);
  const ClientTls by_first{.ca_pem = first.ca.certificate_pem, .identity = first.client("one")};
  const ClientTls by_second{.ca_pem = first.ca.certificate_pem, .identity = second.client("two")};
  EXPECT_EQ(ask(server->port(), by_first), "cn=one");
  EXPECT_EQ(ask(server->port(), by_second), "");
  ASSERT_TRUE(store->trust_clients({.ca_pem = second.ca.certificate_pem}).ok());
  EXPECT_EQ(ask(server->port(), by_first), "");
  EXPECT_EQ(ask(server->port(), by_second), "cn=two");
  EXPECT_FALSE(store->trust_clients({.ca_pem = "nothing"}).ok());
  EXPECT_EQ(ask(server->port(), by_second), "cn=two");
}

TEST(ServerTlsClients, APlainPortStaysSeparate) {
  const auto probes = serve(local(), who);
  EXPECT_EQ(good_status(probes->port()), 200);
  const auto wrong = beast::make_server({.client_certificates = ClientCertificates::kRequire}, who);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.error().code, ErrorCode::kInvalid);
}

// Both backends together, as in production.
TEST(ServerTlsClients, TheClientBackendIsRecognised) {
  const TestCa ca;
  const auto store = store_with(ca.serving().identity);
  ASSERT_TRUE(store->trust_clients({.ca_pem = ca.ca.certificate_pem}).ok());
  ServerOptions options = local_tls(store);
  options.client_certificates = ClientCertificates::kRequire;
  const auto server = serve(options, who);
  const PemPair identity = ca.client("muster", {"system:masters"});
  const auto client = make_client({.credentials = {.base_url = "https://127.0.0.1:" + std::to_string(server->port()),
                                                   .ca = from_text(ca.ca.certificate_pem),
                                                   .client_certificate = from_text(identity.certificate_pem),
                                                   .client_key = from_text(identity.key_pem)}});
  for (int i = 0; i < 5; ++i) {
    const auto response = client->call(get(), {});
    ASSERT_TRUE(response.ok()) << to_string(response.error());
    EXPECT_EQ(response->body, "cn=muster o=system:masters");
  }
}

}  // namespace
}  // namespace muster::net::conformance
