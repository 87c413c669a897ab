// Items 6 and 7 of the suite: whom the client trusts, whom it claims to be, and how both change while it works.
#include "net/conformance/client_fixture.h"

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace muster::net::conformance {
namespace {

using std::chrono::hours;

ScriptedPeer::Script ok_script() {
  return ScriptedPeer::answering([](const std::string&) { return http_response(200, "ok"); });
}

// Every call opens a connection of its own, and so meets the certificates of the moment.
ScriptedPeer::Script closing_script() {
  return [](Channel& channel) {
    channel.receive_message();
    channel.send(http_response(200, "ok", "Connection: close\r\n"));
  };
}

// A folder of its own that goes with the test; files are replaced as kubelet does, by renaming.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "muster-net-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }

  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string path(const std::string& name) const { return (path_ / name).string(); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(path(name + ".new")) << text;
    std::filesystem::rename(path(name + ".new"), path(name));
  }

 private:
  std::filesystem::path path_{};
};

TEST(ClientTls, TrustsTheGivenCa) {
  const TestCa ca;
  ScriptedPeer peer(ok_script(), ca.serving());
  for (const char* host : {"127.0.0.1", "localhost"}) {
    const auto response = tls_client(peer.url(host), ca.ca.certificate_pem)->call(get(), {});
    ASSERT_TRUE(response.ok()) << to_string(response.error());
    EXPECT_EQ(response->body, "ok");
  }
}

struct RefusalCase {
  std::string name{};
  std::string peer_name{};
  Validity validity{};
  bool same_ca = true;
};

class ClientTlsRefuses : public ::testing::TestWithParam<RefusalCase> {};

TEST_P(ClientTlsRefuses, APeerThatIsNotProven) {
  const RefusalCase& c = GetParam();
  const TestCa ca;
  const TestCa other("other-ca");
  // The names are checked against "localhost": the certificate's IP address does not help.
  ScriptedPeer peer(ok_script(), (c.same_ca ? ca : other).serving(c.peer_name, c.validity));
  const auto response = tls_client(peer.url("localhost"), ca.ca.certificate_pem)->call(post("{}"), {});
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kUnauthenticated) << to_string(response.error());
  EXPECT_FALSE(response.error().maybe_executed);
  EXPECT_NE(response.error().message.find("certificate verify failed"), std::string::npos) << response.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ClientTlsRefuses,
    ::testing::Values(RefusalCase{.name = "wrong_name", .peer_name = "elsewhere.example", .validity = valid_now()},
                      RefusalCase{
                          .name = "unknown_ca", .peer_name = "localhost", .validity = valid_now(), .same_ca = false},
                      RefusalCase{.name = "expired",
                                  .peer_name = "localhost",
                                  .validity = {.not_before = wall_now() - hours(3), .lifetime = hours(1)}},
                      RefusalCase{.name = "not_yet_valid",
                                  .peer_name = "localhost",
                                  .validity = {.not_before = wall_now() + hours(1), .lifetime = hours(1)}}),
    [](const auto& row) { return row.param.name; });

// The library loads the system's roots first. Here they contain a CA that must nevertheless not be trusted.
TEST(ClientTls, TrustsNoSystemRoot) {
  const TestCa ca;
  const TestCa system("system-ca");
  const Folder folder;
  folder.write("roots.pem", system.ca.certificate_pem);
  ::setenv("SSL_CERT_FILE", folder.path("roots.pem").c_str(), 1);
  ScriptedPeer peer(ok_script(), system.serving());
  const auto response = tls_client(peer.url(), ca.ca.certificate_pem)->call(get(), {});
  ::unsetenv("SSL_CERT_FILE");
  ASSERT_FALSE(response.ok());
  EXPECT_EQ(response.error().code, ErrorCode::kUnauthenticated);
}

TEST(ClientTls, ChecksTheGivenServerNameInsteadOfTheHost) {
  const TestCa ca;
  ScriptedPeer peer(ok_script(), ca.serving("api.example"));
  for (const auto& [name, good] : {std::pair{"api.example", true}, std::pair{"other.example", false}}) {
    const auto client = make_client(
        {.credentials = {
             .base_url = peer.url("localhost"), .tls_server_name = name, .ca = from_text(ca.ca.certificate_pem)}});
    EXPECT_EQ(client->call(get(), {}).ok(), good) << name;
  }
}

TEST(ClientTls, PresentsItsCertificate) {
  const TestCa ca;
  ServerTls tls = ca.serving();
  tls.client_ca_pem = ca.ca.certificate_pem;
  std::string seen;
  ScriptedPeer peer(
      [&](Channel& channel) {
        seen = channel.peer_common_name();
        channel.receive_message();
        channel.send(http_response(200, "ok"));
      },
      tls);
  const PemPair identity = ca.client("system:muster");
  const auto client = make_client({.credentials = {.base_url = peer.url(),
                                                   .ca = from_text(ca.ca.certificate_pem),
                                                   .client_certificate = from_text(identity.certificate_pem),
                                                   .client_key = from_text(identity.key_pem)}});
  const auto response = client->call(get(), {});
  ASSERT_TRUE(response.ok()) << to_string(response.error());
  EXPECT_EQ(seen, "system:muster");
  EXPECT_FALSE(tls_client(peer.url(), ca.ca.certificate_pem)->call(get(), {}).ok()) << "served without a certificate";
}

// Four threads call without pause while CA bundle, server certificate and client pair are replaced one after the other.
TEST(ClientTls, RotatesUnderLoadWithoutAFailedCall) {
  const TestCa first("first-ca");
  const TestCa second("second-ca");
  const std::string both = first.ca.certificate_pem + second.ca.certificate_pem;
  const Folder folder;
  const auto write_identity = [&](const PemPair& identity) {
    folder.write("tls.crt", identity.certificate_pem);  // for a moment the pair on disk does not fit
    folder.write("tls.key", identity.key_pem);
  };
  folder.write("ca.crt", first.ca.certificate_pem);
  write_identity(first.client("before"));
  ServerTls tls = first.serving();
  tls.client_ca_pem = first.ca.certificate_pem;
  std::mutex mutex;
  std::string last_name;
  ScriptedPeer peer(
      [&](Channel& channel) {
        {
          const std::lock_guard lock(mutex);
          last_name = channel.peer_common_name();
        }
        closing_script()(channel);
      },
      tls);
  const auto client = make_client({.credentials = {.base_url = peer.url(),
                                                   .ca = from_file(folder.path("ca.crt")),
                                                   .client_certificate = from_file(folder.path("tls.crt")),
                                                   .client_key = from_file(folder.path("tls.key"))}});
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&](const std::stop_token& stop) {
      while (!stop.stop_requested()) {
        const auto response = client->call(get(), {});
        failures += response.ok() ? 0 : 1;
        EXPECT_TRUE(response.ok()) << to_string(response.error());
        ++calls;
      }
    });
  }
  const auto more_calls = [&] {  // some begin and end after this moment
    for (const int target = calls + 10; calls < target && failures == 0;) {
      std::this_thread::yield();
    }
  };
  more_calls();
  folder.write("ca.crt", both);
  more_calls();
  ServerTls renewed = second.serving();
  renewed.client_ca_pem = first.ca.certificate_pem;
  peer.set_tls(renewed);
  more_calls();
  write_identity(first.client("after"));
  more_calls();
  threads.clear();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(last_name, "after");
}

TEST(ClientTls, ReadsARenewedTokenAfter401AndTriesAgain) {
  const Folder folder;
  folder.write("token", "old\n");
  std::atomic<int> refused = 0;
  std::atomic<int> served = 0;
  std::string valid = "old";
  ScriptedPeer peer(ScriptedPeer::answering([&](const std::string& request) {
    if (request.find("Authorization:Bearer " + valid + "\r\n") == std::string::npos) {
      ++refused;
      return http_response(401, "who?");
    }
    ++served;
    return http_response(200, "ok");
  }));
  const auto client = make_client({.credentials = {.base_url = peer.url(), .token = from_file(folder.path("token"))}});
  ASSERT_EQ(client->call(get(), {}).value().status, 200);
  valid = "new";
  folder.write("token", "new\n");
  EXPECT_EQ(client->call(post("{}"), {}).value().status, 200);
  EXPECT_EQ(refused, 1);
  EXPECT_EQ(served, 2);

  valid = "newer";  // and a stream, as well
  folder.write("token", "newer\n");
  RecordingSink sink;
  EXPECT_TRUE(client->stream(get(), {}, sink, {}).ok());
  EXPECT_EQ(sink.status, 200);
  EXPECT_EQ(refused, 2);

  valid = "revoked";  // the file holds nothing better: the 401 is the answer, once
  EXPECT_EQ(client->call(get(), {}).value().status, 401);
  EXPECT_EQ(refused, 3);
}

TEST(ClientTls, GarbageInsteadOfTlsFails) {
  ScriptedPeer peer([](Channel& channel) { channel.send(http_response(400, "this is not TLS")); });
  const TestCa ca;
  const auto response =
      tls_client("https://127.0.0.1:" + std::to_string(peer.port()), ca.ca.certificate_pem)->call(get(), {});
  ASSERT_FALSE(response.ok());
  EXPECT_FALSE(response.error().maybe_executed);
}

}  // namespace
}  // namespace muster::net::conformance
