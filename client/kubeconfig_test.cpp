#include "client/kubeconfig.h"

#include "client/base64.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace muster::client {
namespace {

constexpr char kPlain[] = R"(
apiVersion: v1
kind: Config
current-context: dev
clusters:
- name: c1
  cluster: {server: "https://api.example:6443/k8s/clusters/x/", certificate-authority: pki/ca.crt}
users:
- name: u1
  user: {token: abc}
contexts:
- name: dev
  context: {cluster: c1, user: u1, namespace: team-a}
)";

class Files : public ::testing::Test {
 protected:
  Files() {
    std::string pattern = (std::filesystem::temp_directory_path() / "muster-kubeconfig-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
    environment_ = {.home = folder_, .service_account = folder_ + "/sa"};
  }

  ~Files() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& content) const {
    const std::filesystem::path path = std::filesystem::path(folder_) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path.string();
  }

  Result<ClusterAccess> read(const std::string& content, const std::string& context = {}) const {
    return access_from_files({write("config", content)}, context, environment_);
  }

  std::string folder_{};
  Environment environment_{};
};

TEST_F(Files, ReadAContext) {
  const auto access = read(kPlain);
  ASSERT_TRUE(access.ok()) << to_string(access.error());
  EXPECT_EQ(access->credentials.base_url, "https://api.example:6443/k8s/clusters/x");
  EXPECT_EQ(access->credentials.ca.file, folder_ + "/pki/ca.crt");  // relative to the kubeconfig
  EXPECT_EQ(access->credentials.token.text, "abc");
  EXPECT_EQ(access->ns, "team-a");
  EXPECT_EQ(access->context, "dev");
}

TEST_F(Files, InlineDataAndClientCertificate) {
  const auto access = read(R"({
    "current-context": "x",
    "clusters": [{"name": "c", "cluster": {"server": "https://a", "certificate-authority-data": "Q0E=",
                                           "tls-server-name": "kubernetes"}}],
    "users": [{"name": "u", "user": {"client-certificate-data": "Q0VSVA==", "client-key": "/k/key.pem"}}],
    "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}]})");
  ASSERT_TRUE(access.ok()) << to_string(access.error());
  EXPECT_EQ(access->credentials.ca.text, "CA");
  EXPECT_EQ(access->credentials.tls_server_name, "kubernetes");
  EXPECT_EQ(access->credentials.client_certificate.text, "CERT");
  EXPECT_EQ(access->credentials.client_key.file, "/k/key.pem");
  EXPECT_EQ(access->ns, "default");
}

TEST_F(Files, FirstOfSeveralWins) {
  const std::string a = write("a", R"(
users: [{name: u1, user: {tokenFile: token}}]
contexts: [{name: other, context: {cluster: c1, user: u1}}]
)");
  const std::string b = write("b", kPlain);
  environment_.kubeconfig = folder_ + "/missing::" + a + ":" + b;
  const auto access = find_access({}, environment_);
  ASSERT_TRUE(access.ok()) << to_string(access.error());
  EXPECT_EQ(access->context, "dev");                              // only b has a current context
  EXPECT_EQ(access->credentials.token.file, folder_ + "/token");  // of a's user
  const auto chosen = find_access({.context = "other"}, environment_);
  ASSERT_TRUE(chosen.ok()) << to_string(chosen.error());
  EXPECT_EQ(chosen->ns, "default");
}

struct Refused {
  std::string name{};
  std::string cluster{};
  std::string user{};
  std::string path{};
  std::string message{};
};

class RefusedConfigs : public Files, public ::testing::WithParamInterface<Refused> {};

TEST_P(RefusedConfigs, NameTheField) {
  const auto access = read("current-context: x\nclusters: [{name: c, cluster: {" + GetParam().cluster +
                           "}}]\nusers: [{name: u, user: {" + GetParam().user +
                           "}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n");
  ASSERT_FALSE(access.ok());
  EXPECT_EQ(access.error().code, ErrorCode::kInvalid);
  EXPECT_EQ(access.error().path, GetParam().path);
  EXPECT_NE(access.error().message.find(GetParam().message), std::string::npos) << access.error().message;
  EXPECT_NE(access.error().message.find(folder_ + "/config"), std::string::npos) << access.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    Table, RefusedConfigs,
    ::testing::Values(
        Refused{"insecure", "server: 'https://a', insecure-skip-tls-verify: true", "",
                "clusters[0].cluster.insecure-skip-tls-verify", "is not supported"},
        Refused{"proxy", "server: 'https://a', proxy-url: 'http://p'", "", "clusters[0].cluster.proxy-url", "proxies"},
        Refused{"no_url", "server: 'a:6443'", "", "clusters[0].cluster.server", "http or https"},
        Refused{"no_server", "", "", "clusters[0].cluster.server", "http or https"},
        Refused{"bad_ca", "server: 'https://a', certificate-authority-data: '***'", "",
                "clusters[0].cluster.certificate-authority-data", "base64"},
        Refused{"exec", "server: 'https://a'", "exec: {command: aws}", "users[0].user.exec",
                "exec credential plugins are not supported yet"},
        Refused{"provider", "server: 'https://a'", "auth-provider: {name: gcp}", "users[0].user.auth-provider",
                "not supported"},
        Refused{"basic", "server: 'https://a'", "username: me, password: x", "users[0].user.username", "basic"},
        Refused{"half_a_pair", "server: 'https://a'", "client-certificate: c.pem", "users[0].user.client-key",
                "together"},
        Refused{"token_number", "server: 'https://a'", "token: 5", "users[0].user.token", "must be a string"}),
    [](const auto& row) { return row.param.name; });

TEST_F(Files, MissingThingsAreNamed) {
  EXPECT_EQ(access_from_files({folder_ + "/no"}, "", environment_).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read(kPlain, "prod").error().message, "the kubeconfig has no context named \"prod\"");
  EXPECT_EQ(read("clusters: []").error().path, "current-context");
  EXPECT_EQ(read("").error().path, "current-context");
  EXPECT_EQ(read("a: [").error().code, ErrorCode::kInvalid);
}

TEST_F(Files, HomeIsTheLastResort) {
  write(".kube/config", kPlain);
  const auto access = find_access({}, environment_);
  ASSERT_TRUE(access.ok()) << to_string(access.error());
  EXPECT_EQ(access->context, "dev");
}

TEST_F(Files, ServiceAccount) {
  write(".kube/config", kPlain);
  environment_.service_host = "10.96.0.1";
  environment_.service_port = "443";
  EXPECT_EQ(find_access({}, environment_).error().code, ErrorCode::kUnavailable);  // no token
  write("sa/token", "t\n");
  write("sa/namespace", "kueue-system\n");
  const auto access = find_access({}, environment_);
  ASSERT_TRUE(access.ok()) << to_string(access.error());
  EXPECT_EQ(access->credentials.base_url, "https://10.96.0.1:443");
  EXPECT_EQ(access->credentials.token.file, folder_ + "/sa/token");
  EXPECT_EQ(access->credentials.ca.file, folder_ + "/sa/ca.crt");
  EXPECT_EQ(access->ns, "kueue-system");
  environment_.service_host = "fd00::1";
  EXPECT_EQ(access_in_cluster(environment_)->credentials.base_url, "https://kubernetes.default.svc:443");
  EXPECT_EQ(find_access({.context = "dev"}, environment_)->context, "dev");
}

TEST(Base64, Decodes) {
  EXPECT_EQ(decode_base64("").value(), "");
  EXPECT_EQ(decode_base64("YQ==").value(), "a");
  EXPECT_EQ(decode_base64("YWI=").value(), "ab");
  EXPECT_EQ(decode_base64("YW\nJj ").value(), "abc");
  EXPECT_EQ(decode_base64("/+8A").value(), std::string("\xff\xef\0", 3));
  for (const char* bad : {"YQ", "YQ=", "=", "====", "YQ=a", "YQ$="}) {
    EXPECT_FALSE(decode_base64(bad).ok()) << bad;
  }
}

}  // namespace
}  // namespace muster::client
