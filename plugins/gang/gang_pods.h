// The pods of a gang as they are: who runs, who waits for a node. Pods are borrowed from the model.
#pragma once

#include "framework/model/model.h"
#include "plugins/gang/pod_set.h"

#include <map>
#include <string>
#include <vector>

namespace muster::plugins::gang {

struct PodSetPods {
  std::string name{};
  std::int32_t needed = 0;
  std::int32_t running = 0;                  // on a node, neither finished nor being deleted
  std::map<NodeName, std::int32_t> bound{};  // on a node and not finished: those take a slot
  std::vector<const api::Pod*> waiting{};    // may be bound now; by completion index, then name
  std::int32_t gated = 0;

  std::int32_t present() const { return running + static_cast<std::int32_t>(waiting.size()); }

  std::int32_t occupied() const;
  // Pods that still need a slot, present or not.
  std::int32_t open() const;
};

// In the order of `pod_sets`.
std::vector<PodSetPods> pods_of_gang(const api::Workload& workload, const std::vector<GangPodSet>& pod_sets,
                                     const framework::Model& model);

// A gang that runs has had its quorum: replacements of its pods are bound as they come.
bool has_started(const std::vector<PodSetPods>& pods);
// Every pod that is needed is there.
bool is_complete(const std::vector<PodSetPods>& pods);
// `3 of 4 pods of the gang exist (main: 3/4)`.
std::string presence_text(const std::vector<PodSetPods>& pods);

}  // namespace muster::plugins::gang
