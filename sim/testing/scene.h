// Small clusters for tests of the simulator: what is not said does not matter. Not linked into the product.
#pragma once

#include "sim/submission.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::sim::testing {

struct SceneJob {
  std::string name{};
  std::string queue = "main";
  std::string priority_class{};
  int pods = 1;
  std::string cpu = "1";
  Duration at{0};
  Duration runs_for = std::chrono::seconds(60);
  std::string scheduler = "muster";
  std::string pool{};  // node selector
};

struct SceneQueue {
  std::string name = "main";
  std::string cpu = "100";
  std::string cohort{};
  std::string within_queue = "Never";   // preemption.withinClusterQueue
  std::string within_cohort = "Never";  // preemption.reclaimWithinCohort
  std::string borrowing_limit{};
  std::vector<std::string> more_local_queues{};  // beside the one of its own name
  bool usage_based = false;                      // admissionScope
};

// Everything lives in the namespace `team`; the one flavor is `default`; the resource is cpu.
class Scene {
 public:
  Scene();

  // `pool`: a label of the nodes, and the beginning of their names.
  Scene& nodes(int count, const std::string& cpu, const std::string& pool = "node");
  Scene& queue(const SceneQueue& queue);
  Scene& priority_class(const std::string& name, int value);
  Scene& job(const SceneJob& job);

  std::vector<Submission> submissions() const { return submissions_; }

 private:
  Scene& add(const char* kind, api::Json metadata, api::Json rest, Duration at = Duration::zero());

  std::vector<Submission> submissions_{};
};

}  // namespace muster::sim::testing
