// CertificateManager and ConfigurationKeeper against a scripted API server.
#include "net/fake/transport.h"
#include "webhook/configurations.h"
#include "webhook/review.h"
#include "webhook/server/certificate_manager.h"
#include "webhook/server/certificates.h"
#include "webhook/server/configuration_keeper.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

namespace muster::webhook {
namespace {

using api::Json;

const TimePoint kNow{std::chrono::sys_days{std::chrono::year{2026} / 12 / 1}};
constexpr char kSecretPath[] = "/api/v1/namespaces/muster-system/secrets/muster-webhook-server-cert";

net::Response json(int status, const Json& body) {
  return {.status = status, .headers = {{"Content-Type", "application/json"}}, .body = body.dump()};
}

// Objects by path, with resourceVersions that must fit.
class Objects {
 public:
  explicit Objects(net::fake::Transport& transport) {
    transport.on_call([this](const net::Request& request) -> Result<net::Response> { return answer(request); });
  }

  std::map<std::string, Json> stored{};
  std::function<void()> before_write{};  // runs once, before the next write: another replica
  int writes = 0;

 private:
  net::Response answer(const net::Request& request) {
    const auto found = stored.find(request.target);
    if (found == stored.end()) {
      return json(404, {{"kind", "Status"}, {"reason", "NotFound"}, {"message", "not found"}, {"code", 404}});
    }
    if (request.method == "GET") {
      return json(200, found->second);
    }
    if (before_write) {
      std::exchange(before_write, nullptr)();
    }
    Json& object = found->second;
    const Json body = Json::parse(request.body);
    if (body["metadata"]["resourceVersion"] != object["metadata"]["resourceVersion"]) {
      return json(409, {{"kind", "Status"}, {"reason", "Conflict"}, {"message", "changed"}, {"code", 409}});
    }
    const int version = std::stoi(object["metadata"]["resourceVersion"].get<std::string>()) + 1;
    if (request.method == "PUT") {
      object = body;
    } else {
      object.merge_patch(body);
    }
    object["metadata"]["resourceVersion"] = std::to_string(version);
    ++writes;
    return json(200, object);
  }
};

Json empty_secret() {
  return {{"kind", "Secret"}, {"metadata", {{"name", "muster-webhook-server-cert"}, {"resourceVersion", "1"}}}};
}

CertificateOptions options() {
  return {.ns = "muster-system", .secret = "muster-webhook-server-cert", .service = "muster-webhook-service"};
}

void ignore(const Error& /*error*/) {}

struct World {
  net::fake::Transport transport{};
  Objects objects{transport};
  client::ApiClient api{transport};
};

TEST(Certificates, AnEmptySecretIsFilled) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager manager(world.api, options(), ignore);
  EXPECT_FALSE(manager.ready());
  ASSERT_TRUE(manager.check(kNow).ok());
  EXPECT_TRUE(manager.ready());
  const CertificateSet stored = read_secret(world.objects.stored[kSecretPath]);
  EXPECT_EQ(manager.ca_bundle(), stored.ca_bundle);
  EXPECT_EQ(manager.store()->current()->identity.certificate_pem, stored.certificate);
}

TEST(Certificates, ASecondRoundWritesNothing) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager manager(world.api, options(), ignore);
  ASSERT_TRUE(manager.check(kNow).ok());
  const auto presented = manager.store()->current()->generation;
  ASSERT_TRUE(manager.check(kNow + std::chrono::hours(1)).ok());
  EXPECT_EQ(world.objects.writes, 1);
  EXPECT_EQ(manager.store()->current()->generation, presented) << "servers keep what they have";
}

TEST(Certificates, WhoLosesTheRaceTakesTheWinnersSet) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager winner(world.api, options(), ignore);
  const CertificateSet won = *bring_up_to_date({}, service_names("muster-webhook-service", "muster-system"), kNow);
  world.objects.before_write = [&] {
    Json& secret = world.objects.stored[kSecretPath];
    secret = write_secret(secret, won);
    secret["metadata"]["resourceVersion"] = "2";
  };
  ASSERT_TRUE(winner.check(kNow).ok());
  EXPECT_EQ(winner.ca_bundle(), won.ca_bundle);
  EXPECT_EQ(world.objects.writes, 0);
}

TEST(Certificates, AnotherReplicasRenewalIsPickedUp) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager manager(world.api, options(), ignore);
  ASSERT_TRUE(manager.check(kNow).ok());
  const CertificateSet renewed =
      *bring_up_to_date(read_secret(world.objects.stored[kSecretPath]),
                        service_names("muster-webhook-service", "muster-system"), kNow + std::chrono::hours(24 * 300));
  world.objects.stored[kSecretPath] = write_secret(world.objects.stored[kSecretPath], renewed);
  ASSERT_TRUE(manager.check(kNow + std::chrono::hours(24 * 300)).ok());
  EXPECT_EQ(manager.store()->current()->identity.certificate_pem, renewed.certificate);
  EXPECT_EQ(world.objects.writes, 1);
}

TEST(Certificates, AMissingSecretIsNamed) {
  World world;
  CertificateManager manager(world.api, options(), ignore);
  const Status status = manager.check(kNow);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_EQ(status.error().message, "secret muster-system/muster-webhook-server-cert: not found");
  EXPECT_FALSE(manager.ready());
}

TEST(Certificates, AFailureLeavesTheFormerOneInPlace) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager manager(world.api, options(), ignore);
  ASSERT_TRUE(manager.check(kNow).ok());
  world.objects.stored.clear();
  EXPECT_FALSE(manager.check(kNow).ok());
  EXPECT_TRUE(manager.ready());
}

void write_file(const std::string& path, const std::string& text) {
  std::ofstream(path) << text;
}

TEST(Certificates, FilesAreReadAgainWhenTheyChange) {
  World world;
  const std::string dir = ::testing::TempDir() + "muster-certs-" + std::to_string(::getpid());
  std::filesystem::create_directory(dir);
  CertificateManager manager(world.api, {.self_made = false, .cert_dir = dir}, ignore);
  EXPECT_EQ(manager.check(kNow).error().code, ErrorCode::kUnavailable);
  for (int i = 0; i < 2; ++i) {
    const CertificateSet set = *bring_up_to_date({}, {"svc"}, kNow);
    write_file(dir + "/tls.crt", set.certificate);
    write_file(dir + "/tls.key", set.key);
    ASSERT_TRUE(manager.check(kNow).ok());
    EXPECT_EQ(manager.store()->current()->identity.certificate_pem, set.certificate);
  }
  write_file(dir + "/tls.key", "half written");
  EXPECT_FALSE(manager.check(kNow).ok());
  EXPECT_TRUE(manager.ready()) << "the former pair stays";
  EXPECT_EQ(manager.ca_bundle(), "") << "whoever made it puts the bundle in";
  std::filesystem::remove_all(dir);
}

TEST(Certificates, TheThreadFillsTheSecretAndStops) {
  World world;
  world.objects.stored[kSecretPath] = empty_secret();
  CertificateManager manager(world.api, options(), ignore);
  manager.start();
  ASSERT_TRUE(world.transport.wait_for_requests(2));
  manager.stop();
  EXPECT_EQ(world.objects.writes, 1);
}

constexpr char kMutatingPath[] =
    "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations/muster-mutating-webhook-configuration";
constexpr char kValidatingPath[] =
    "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/muster-validating-webhook-configuration";

Json live(Json configuration) {
  configuration["metadata"]["resourceVersion"] = "1";
  return configuration;
}

void apply_manifests(World& world) {
  const api::Configuration configuration;
  world.objects.stored[kMutatingPath] = live(mutating_configuration(configuration, "muster-system"));
  world.objects.stored[kValidatingPath] = live(validating_configuration(configuration, "muster-system"));
}

TEST(Configurations, GetTheBundleOnceThereIsOne) {
  World world;
  apply_manifests(world);
  std::string bundle;
  ConfigurationKeeper keeper(world.api, {}, "muster-system", {.pem_bundle = [&] { return bundle; }}, ignore);
  ASSERT_TRUE(keeper.check().ok());
  EXPECT_FALSE(keeper.in_line());
  EXPECT_EQ(world.objects.writes, 0);
  bundle = "pem";
  ASSERT_TRUE(keeper.check().ok());
  EXPECT_TRUE(keeper.in_line());
  EXPECT_EQ(keeper.corrections(), 2U);
  for (const char* path : {kMutatingPath, kValidatingPath}) {
    for (const Json& webhook : world.objects.stored[path]["webhooks"]) {
      EXPECT_EQ(webhook["clientConfig"]["caBundle"], encode_base64("pem"));
    }
  }
  ASSERT_TRUE(keeper.check().ok());
  EXPECT_EQ(world.objects.writes, 2) << "what is right is left alone";
}

TEST(Configurations, AreSetRightAfterTheManifestsWereAppliedAgain) {
  World world;
  apply_manifests(world);
  api::Configuration wide;
  wide.manage_jobs_without_queue_name = true;
  ConfigurationKeeper keeper(world.api, wide, "muster-system", {.pem_bundle = [] { return "pem"; }}, ignore);
  ASSERT_TRUE(keeper.check().ok());
  const Json right = world.objects.stored[kMutatingPath]["webhooks"];
  apply_manifests(world);
  ASSERT_TRUE(keeper.check().ok());
  EXPECT_EQ(world.objects.stored[kMutatingPath]["webhooks"], right);
}

TEST(Configurations, AreNotCreated) {
  World world;
  ConfigurationKeeper keeper(world.api, {}, "muster-system", {.pem_bundle = [] { return "pem"; }}, ignore);
  const Status status = keeper.check();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(keeper.in_line());
}

TEST(Configurations, TheThreadStopsAtOnce) {
  World world;
  apply_manifests(world);
  ConfigurationKeeper keeper(world.api, {}, "muster-system", {.pem_bundle = [] { return "pem"; }}, ignore);
  keeper.start();
  ASSERT_TRUE(world.transport.wait_for_requests(4));
  keeper.stop();
  EXPECT_EQ(keeper.corrections(), 2U);
}

}  // namespace
}  // namespace muster::webhook
