// What the tests of this folder share: a World with the default node plugins, and assignments as a flavor assigner
// makes them.
#pragma once

#include "plugins/gang/gang.h"
#include "plugins/node_affinity/node_affinity.h"
#include "plugins/node_name/node_name.h"
#include "plugins/node_ports/node_ports.h"
#include "plugins/node_resources_fit/node_resources_fit.h"
#include "plugins/node_unschedulable/node_unschedulable.h"
#include "plugins/taint_toleration/taint_toleration.h"
#include "plugins/testing/judged.h"
#include "plugins/testing/world.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace muster::plugins::gang {

using namespace api::testing;  // NOLINT(google-build-using-namespace)

// Node name -> pods, of one podset.
using Spots = std::map<std::string, int>;

class GangWorld : public testing::World {
 public:
  const framework::NodePlugins& node_plugins() const { return node_plugins_; }

  // Every resource of every podset gets `flavor`; none where it is empty.
  static framework::Assignment assign(const framework::WorkloadInfo& workload, const std::string& flavor) {
    framework::Assignment assignment{.mode = framework::FitMode::kFit};
    for (const framework::PodSetTotals& pod_set : workload.pod_sets) {
      framework::PodSetChoice choice{.name = pod_set.name, .count = pod_set.count};
      for (const auto& [resource, amount] : pod_set.requests) {
        if (!flavor.empty()) {
          choice.flavors[resource] = {.flavor = FlavorName(flavor), .mode = framework::FitMode::kFit};
        }
      }
      assignment.pod_sets.push_back(std::move(choice));
    }
    return assignment;
  }

  // What Gang's filter makes of it.
  struct Outcome {
    framework::Verdict verdict{};
    framework::Assignment assignment{};
    std::vector<framework::FlavorExclusion> rejected{};
  };

  Outcome filter(const WorkloadBuilder& workload, const std::string& flavor, const std::string& args = "{}") {
    const framework::WorkloadInfo info = pending(workload, "cq");
    return filter(info, assign(info, flavor), {}, args);
  }

  Outcome filter(const framework::WorkloadInfo& info, framework::Assignment assignment,
                 const std::vector<framework::FlavorExclusion>& exclusions = {}, const std::string& args = "{}") {
    Outcome outcome{.assignment = std::move(assignment)};
    const std::uint64_t before = model().hash();
    framework::Transaction transaction(model());
    framework::FilterContext context{info, transaction, node_plugins_, exclusions, {}, at(0)};
    outcome.verdict = testing::make<Gang>(args)->filter(context, outcome.assignment, outcome.rejected);
    EXPECT_EQ(model().hash(), before) << "the filter left something on the nodes";
    return outcome;
  }

 private:
  std::shared_ptr<const NodeUnschedulable> unschedulable_ = testing::make<NodeUnschedulable>();
  std::shared_ptr<const RequestedNodeName> name_ = testing::make<RequestedNodeName>();
  std::shared_ptr<const TaintToleration> taints_ = testing::make<TaintToleration>();
  std::shared_ptr<const NodeAffinity> affinity_ = testing::make<NodeAffinity>();
  std::shared_ptr<const NodePorts> ports_ = testing::make<NodePorts>();
  std::shared_ptr<const NodeResourcesFit> fit_ = testing::make<NodeResourcesFit>();
  framework::NodePlugins node_plugins_{.filters = {{"NodeUnschedulable", unschedulable_.get()},
                                                   {"NodeName", name_.get()},
                                                   {"TaintToleration", taints_.get()},
                                                   {"NodeAffinity", affinity_.get()},
                                                   {"NodePorts", ports_.get()},
                                                   {"NodeResourcesFit", fit_.get()}},
                                       .scores = {{"TaintToleration", taints_.get(), 3},
                                                  {"NodeAffinity", affinity_.get(), 2},
                                                  {"NodeResourcesFit", fit_.get(), 1}}};
};

inline Spots spots_of(const framework::PlacementPlan& plan, const std::string& pod_set = "main") {
  Spots spots;
  for (const framework::PodSetPlan& planned : plan) {
    for (const framework::NodeSlots& slots : planned.slots) {
      if (planned.name == pod_set) {
        spots[slots.node.str()] += slots.count;
      }
    }
  }
  return spots;
}

inline NodeBuilder gpu_node(const std::string& name, const std::string& gpus) {
  return a_node(name).allocatable("cpu", "64").allocatable("memory", "256Gi").allocatable("nvidia.com/gpu", gpus);
}

// A gang of Muster's with one podset `main`.
inline WorkloadBuilder gpu_gang(const std::string& name, std::int32_t pods, const std::string& gpus = "1") {
  return a_workload("ns", name).count(pods).scheduler("muster").request("nvidia.com/gpu", gpus);
}

}  // namespace muster::plugins::gang
