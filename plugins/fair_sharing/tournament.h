// The tournament of spec/admission.md §4.3: in every cohort the entry whose side would have the smallest share wins;
// the winner at the root goes next. Trees follow one another by the name of their root. Lives for one cycle.
#pragma once

#include "framework/model/branch.h"
#include "framework/model/fair_share.h"
#include "framework/points.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace muster::plugins {

struct TournamentRules {
  bool prefer_non_borrowing = true;  // gate FairSharingPrioritizeNonBorrowing
  bool priority = true;              // gate PrioritySortingWithinCohort
};

// How an entry stands where it meets others: as the child of a cohort through which it takes part there.
struct Standing {
  framework::DominantShare share{};  // of that child, with the entry's usage
  bool borrows_requested = false;    // that child, any of what the entry requests
  std::int64_t priority = 0;
  TimePoint queue_time{};
};

// A strict weak order: who goes first.
bool goes_before(const Standing& a, const Standing& b, const TournamentRules& rules);

class Tournament final : public framework::EntryOrder {
 public:
  Tournament(std::vector<const framework::Entry*> entries, const framework::Model& model, TournamentRules rules);

  std::size_t next(const framework::Model& model) override;

 private:
  using NodeIndex = framework::QuotaTree::NodeIndex;

  struct Level {
    NodeIndex node = 0;
    std::uint64_t version = 0;
    Standing standing{};
  };

  struct Contestant {
    std::size_t index = 0;              // of the entry
    std::vector<Level> levels{};        // from the ClusterQueue up to the child of the root
    framework::UsageDelta delta{};      // its usage, less its own hold
    framework::UsageDelta requested{};  // its usage
    bool weighed = false;
  };

  struct Lane {                             // a ClusterQueue
    std::vector<Contestant> contestants{};  // in queue order
    std::size_t next = 0;
  };

  struct Group {  // a cohort; for a ClusterQueue that is in none, itself
    std::vector<Group> cohorts{};
    std::vector<Lane> lanes{};
  };

  struct Tree {
    std::string name{};
    Group root{};
    std::size_t left = 0;
  };

  Group build(const framework::Branch& branch, std::map<NodeIndex, Lane>& lanes);
  void add_tree(std::string name, Group root, std::size_t entries);
  Contestant contestant(std::size_t index, NodeIndex queue, const framework::Model& model) const;
  void weigh(Contestant& contestant, const framework::QuotaTree& quota) const;
  // Null when no entry is left under the group, which lies `depth` below the root.
  Lane* winner(Group& group, std::size_t depth, const framework::QuotaTree& quota);

  std::vector<const framework::Entry*> entries_;
  TournamentRules rules_;
  std::vector<Tree> trees_{};
  std::size_t tree_ = 0;  // the one at hand
};

}  // namespace muster::plugins
