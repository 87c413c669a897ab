#include "controllers/options.h"

#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

TEST(ControllerOptions, DefaultsOfTheConfiguration) {
  const ControllerOptions options = options_from({}, "muster-system");
  EXPECT_TRUE(options.batch_jobs);
  EXPECT_FALSE(options.pods);
  EXPECT_FALSE(options.manage_jobs_without_queue_name);
  ASSERT_TRUE(options.wait_for_pods_ready.has_value());
  EXPECT_EQ(options.wait_for_pods_ready->timeout, std::chrono::minutes(30));
  EXPECT_FALSE(options.retain_finished.has_value());
  EXPECT_FALSE(options.fair_sharing);
  ASSERT_TRUE(options.managed_namespaces.has_value());
  for (const auto& [ns, managed] : {std::pair{"kube-system", false}, {"muster-system", false}, {"team", true}}) {
    EXPECT_EQ(api::matches(*options.managed_namespaces, {{"kubernetes.io/metadata.name", ns}}), managed) << ns;
  }
}

TEST(ControllerOptions, WhatTheConfigurationSays) {
  api::Configuration configuration;
  configuration.integrations.frameworks = {"pod"};
  configuration.feature_gates["DisableWaitForPodsReady"] = true;
  configuration.retention.after_finished = std::chrono::seconds(5);
  configuration.fair_sharing = api::FairSharingConfig{};
  const ControllerOptions options = options_from(configuration, "x");
  EXPECT_TRUE(options.fair_sharing);
  EXPECT_FALSE(options.batch_jobs);
  EXPECT_TRUE(options.pods);
  EXPECT_FALSE(options.wait_for_pods_ready.has_value());
  EXPECT_EQ(options.retain_finished, std::chrono::seconds(5));
}

}  // namespace
}  // namespace muster::controllers
