// Finds nodes for all pods of a gang, in one transaction that it leaves as it found it (spec/placement.md §5.3, §5.4).
// Deterministic: ties go to the lower node name. Exact for one podset: it is placed if and only if the nodes'
// capacities add up. Several podsets are vector packing: a bounded number of greedy searches, each led by the failure
// of the last. Complexity: one podset O(N log N) over N nodes; m podsets at most kMaxSearches · m times that.
#pragma once

#include "framework/points.h"
#include "plugins/gang/gang_args.h"
#include "plugins/gang/node_judge.h"
#include "plugins/gang/pod_set.h"

#include <cstdint>
#include <map>
#include <vector>

namespace muster::plugins::gang {

inline constexpr int kMaxSearches = 9;

struct Placement {
  framework::PlacementPlan plan{};  // of all pods when complete, else of the most that fitted at once
  std::vector<std::int32_t> fit{};  // pods placed, a podset
  bool complete = false;
  bool proved = false;  // incomplete, and no search could do better: a podset does not even fit alone
};

class Placer {
 public:
  Placer(framework::Transaction& transaction, const framework::NodePlugins& plugins, PlacementPolicy policy)
      : transaction_(transaction), judge_(plugins, transaction.model().nodes()), policy_(policy) {}

  Placement place(const std::vector<GangPodSet>& pod_sets) const;

 private:
  // One node that takes pods of a podset.
  struct Fit {
    std::uint32_t place = 0;  // position in name order
    Amount pods = 0;
    std::int64_t preference = 0;
    Amount regret = 0;  // what the podsets placed later lose, where that is looked at
  };
  // Which of equally preferred nodes go first.
  enum class NodeOrder : std::uint8_t { kLeastRegret, kFullest, kTightest };

  struct Search {
    std::vector<std::size_t> order{};  // of podsets
    NodeOrder nodes = NodeOrder::kLeastRegret;
    friend bool operator==(const Search&, const Search&) = default;
  };

  using Taken = std::map<std::uint32_t, std::int32_t>;  // pods by position in name order

  // The nodes of one podset before anything is placed.
  struct Room {
    std::vector<Fit> fits{};
    std::vector<Amount> by_place{};  // pods by position; empty for a gang of one podset
    Amount total = 0;
  };

  Room room_for(const GangPodSet& pod_set, bool by_place) const;
  std::vector<std::size_t> by_scarcity(const std::vector<GangPodSet>& pod_sets, const std::vector<Room>& rooms) const;
  Placement search(const std::vector<GangPodSet>& pod_sets, const std::vector<Room>& rooms, const Search& how) const;
  std::vector<Fit> current_fits(const GangPodSet& pod_set, const Room& room, const std::vector<bool>& touched) const;
  Taken pack(const GangPodSet& pod_set, std::vector<Fit> fits, NodeOrder order) const;
  Taken spread(const GangPodSet& pod_set, const std::vector<Fit>& fits) const;

  framework::NodeId at(std::uint32_t place) const { return judge_.nodes().ids()[place]; }

  framework::PodSetPlan plan_of(const GangPodSet& pod_set, const Taken& taken) const;

  framework::Transaction& transaction_;
  NodeJudge judge_;
  PlacementPolicy policy_;
};

}  // namespace muster::plugins::gang
