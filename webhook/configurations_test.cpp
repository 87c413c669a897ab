#include "webhook/configurations.h"

#include "api/codec/yaml.h"
#include "webhook/review.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <fstream>
#include <iterator>

namespace muster::webhook {
namespace {

using api::Json;

constexpr char kNamespace[] = "muster-system";

std::string read_manifest(const std::string& path) {
  std::ifstream file(std::string(MUSTER_SOURCE_DIR) + "/manifests/" + path);
  EXPECT_TRUE(file.good()) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

Json manifest(const std::string& path) {
  const auto documents = api::yaml_to_json(read_manifest(path));
  EXPECT_TRUE(documents.ok() && documents->size() == 1) << path;
  return documents.ok() ? documents->front() : Json{};
}

api::Configuration shipped() {
  const auto configuration = api::parse_configuration(read_manifest("manager/controller_manager_config.yaml"));
  EXPECT_TRUE(configuration.ok()) << to_string(configuration.error());
  return configuration.ok() ? *configuration : api::Configuration{};
}

Json hook(const Json& configuration, const std::string& name) {
  for (const Json& webhook : configuration["webhooks"]) {
    if (webhook["name"] == name) {
      return webhook;
    }
  }
  return nullptr;
}

TEST(ShippedManifests, SayWhatTheShippedConfigurationAsksFor) {
  EXPECT_EQ(with_api_defaults(mutating_configuration(shipped(), kNamespace)),
            with_api_defaults(manifest("webhook/mutating_webhook_configuration.yaml")));
  EXPECT_EQ(with_api_defaults(validating_configuration(shipped(), kNamespace)),
            with_api_defaults(manifest("webhook/validating_webhook_configuration.yaml")));
}

TEST(Frameworks, DecideWhichKindsAreSent) {
  api::Configuration configuration = shipped();
  configuration.integrations.frameworks = {"batch/job"};
  EXPECT_FALSE(hook(mutating_configuration(configuration, kNamespace), "mjob.kb.io").is_null());
  EXPECT_TRUE(hook(mutating_configuration(configuration, kNamespace), "mpod.kb.io").is_null());
  EXPECT_TRUE(hook(validating_configuration(configuration, kNamespace), "vpod.kb.io").is_null());
  configuration.integrations.frameworks = {"pod"};
  EXPECT_TRUE(hook(mutating_configuration(configuration, kNamespace), "mjob.kb.io").is_null());
  EXPECT_FALSE(hook(mutating_configuration(configuration, kNamespace), "mpod.kb.io").is_null());
}

TEST(ObjectSelector, AsksForAQueueLabelUnlessTheConfigurationIsWider) {
  api::Configuration narrow = shipped();
  EXPECT_EQ(hook(mutating_configuration(narrow, kNamespace), "mjob.kb.io")["objectSelector"],
            Json::parse(R"({"matchExpressions":[{"key":"kueue.x-k8s.io/queue-name","operator":"Exists"}]})"));
  api::Configuration all = shipped();
  all.manage_jobs_without_queue_name = true;
  EXPECT_EQ(hook(mutating_configuration(all, kNamespace), "mjob.kb.io")["objectSelector"], Json::object());
  api::Configuration defaulting = shipped();
  defaulting.muster.default_local_queue = true;
  EXPECT_EQ(hook(validating_configuration(defaulting, kNamespace), "vpod.kb.io")["objectSelector"], Json::object());
}

TEST(NamespaceSelector, IsTheConfiguredOne) {
  api::Configuration configuration = shipped();
  configuration.managed_jobs_namespace_selector = api::LabelSelector{.match_labels = {{"team", "batch"}}};
  const Json mutating = mutating_configuration(configuration, kNamespace);
  EXPECT_EQ(hook(mutating, "mjob.kb.io")["namespaceSelector"], Json::parse(R"({"matchLabels":{"team":"batch"}})"));
  EXPECT_FALSE(hook(mutating, "mclusterqueue.kb.io").contains("namespaceSelector"));
}

// What the API server would have stored.
Json stored(const Json& configuration, const std::string& bundle) {
  Json live = with_api_defaults(configuration);
  live["metadata"]["resourceVersion"] = "7";
  live["metadata"]["uid"] = "u";
  for (Json& webhook : live["webhooks"]) {
    if (webhook["matchConditions"].empty()) {
      webhook.erase("matchConditions");
    }
    if (!bundle.empty()) {
      webhook["clientConfig"]["caBundle"] = encode_base64(bundle);
    }
  }
  return live;
}

TEST(Correction, IsNothingWhenAllIsRight) {
  const Json wanted = validating_configuration(shipped(), kNamespace);
  EXPECT_TRUE(correction(stored(wanted, "ca"), wanted, "ca").is_null());
}

TEST(Correction, PutsTheBundleIntoEveryWebhook) {
  const Json wanted = mutating_configuration(shipped(), kNamespace);
  const Json patch = correction(stored(wanted, "old"), wanted, "new");
  ASSERT_EQ(patch["webhooks"].size(), wanted["webhooks"].size());
  for (const Json& webhook : patch["webhooks"]) {
    EXPECT_EQ(webhook["clientConfig"]["caBundle"], encode_base64("new"));
  }
  EXPECT_EQ(patch["metadata"], Json::parse(R"({"resourceVersion":"7"})"));
}

TEST(Correction, TakesBackWhatSomebodyElseSet) {
  api::Configuration wide = shipped();
  wide.manage_jobs_without_queue_name = true;
  const Json wanted = mutating_configuration(wide, kNamespace);
  const Json reset = stored(mutating_configuration(shipped(), kNamespace), "ca");
  const Json patch = correction(reset, wanted, "ca");
  ASSERT_FALSE(patch.is_null());
  Json corrected = reset;
  corrected.merge_patch(patch);
  EXPECT_TRUE(correction(corrected, wanted, "ca").is_null());
  EXPECT_EQ(hook(corrected, "mjob.kb.io")["objectSelector"], Json::object());
}

TEST(Correction, KeepsAForeignBundleWhereWeHaveNone) {
  const Json wanted = mutating_configuration(shipped(), kNamespace);
  EXPECT_TRUE(correction(stored(wanted, "cert-manager's"), wanted, "").is_null());
  Json live = stored(wanted, "cert-manager's");
  live["webhooks"][0]["timeoutSeconds"] = 3;
  const Json patch = correction(live, wanted, "");
  EXPECT_EQ(patch["webhooks"][0]["clientConfig"]["caBundle"], encode_base64("cert-manager's"));
  EXPECT_EQ(patch["webhooks"][0]["timeoutSeconds"], 10);
}

TEST(Correction, SurvivesAnObjectWithoutWebhooks) {
  const Json wanted = mutating_configuration(shipped(), kNamespace);
  EXPECT_EQ(correction(Json::parse(R"({"metadata":{}})"), wanted, "ca")["webhooks"].size(), wanted["webhooks"].size());
  EXPECT_FALSE(correction(Json::parse(R"({"metadata":{},"webhooks":[3]})"), wanted, "ca").is_null());
}

}  // namespace
}  // namespace muster::webhook
