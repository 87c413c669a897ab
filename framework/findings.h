// What Filter plugins found while they judged a Workload, for `muster explain`: every flavor and every podset, also
// those that a decision need not look at. Values; filled only where FilterContext::findings says so.
#pragma once

#include "framework/workload_info.h"

#include <cstdint>
#include <string>
#include <vector>

namespace muster::framework {

// One (podset, flavor, resource).
struct FlavorFinding {
  std::string pod_set{};
  FlavorName flavor{};             // empty: no flavor of the ClusterQueue offers the resource
  std::string resource{};          // empty: the flavor is unsuitable, whatever is requested
  FitMode mode = FitMode::kNoFit;  // kPreempt: there is somebody whom it might preempt
  Amount requested = 0;            // by this podset
  Amount earlier = 0;              // by the podsets before it, where they chose this flavor
  std::string text{};              // what is in the way; empty: nothing
  friend bool operator==(const FlavorFinding&, const FlavorFinding&) = default;
};

// How many pods of a podset found nodes, with the flavors of the attempt.
struct PlacementFinding {
  std::string pod_set{};
  std::int32_t wanted = 0;
  std::int32_t placed = 0;
  std::string text{};  // of the podset that lacks most; empty: all were placed
  friend bool operator==(const PlacementFinding&, const PlacementFinding&) = default;
};

struct Findings {
  std::vector<FlavorFinding> flavors{};
  std::vector<PlacementFinding> placements{};
};

}  // namespace muster::framework
