// From which ClusterQueue the next victim is asked (spec/admission.md §5.5): down the cohort tree along the largest
// dominant resource share, weighed anew before every pick. Lives for one search; reads the quota tree as it stands.
#pragma once

#include "framework/model/branch.h"
#include "framework/model/fair_share.h"
#include "framework/preemption/candidate.h"

#include <optional>
#include <string_view>
#include <vector>

namespace muster::plugins {

struct FairCandidate : framework::Candidate {
  std::string_view reason{};  // of the condition Preempted, once chosen
};

// Who is asked first within a ClusterQueue, and among ClusterQueues of equal share: those leaving anyway, then other
// ClusterQueues before `own`, then by priority, time of reservation and uid.
bool asked_before(const FairCandidate& a, const FairCandidate& b, framework::QuotaTree::NodeIndex own);

class TargetQueues {
 public:
  using NodeIndex = framework::QuotaTree::NodeIndex;

  // A ClusterQueue with candidates.
  class Target {
   public:
    NodeIndex queue() const { return node_; }

    bool empty() const { return next_ == candidates_.size(); }

    FairCandidate& front() const { return *candidates_[next_]; }

    FairCandidate& take() { return *candidates_[next_++]; }

    void drop() { next_ = candidates_.size(); }

   private:
    friend class TargetQueues;
    NodeIndex node_ = 0;
    std::vector<FairCandidate*> candidates_{};
    std::size_t next_ = 0;
    bool pruned_ = false;
  };

  // `candidates` are in the order of asked_before, borrowed.
  TargetQueues(const framework::QuotaTree& quota, NodeIndex preemptor, const std::vector<FairCandidate*>& candidates);

  // Null when nobody is left to ask. What it returns must be shortened before the next call.
  Target* next();
  // Of the tree as it stands; remembered as long as nothing changes at the node.
  const framework::DominantShare& share(NodeIndex node);

 private:
  struct Cohort {
    NodeIndex node = 0;
    std::vector<Cohort> cohorts{};
    std::vector<Target> queues{};
    bool pruned = false;
  };

  struct Known {
    std::optional<std::uint64_t> version{};
    framework::DominantShare share{};
  };

  Cohort build(const framework::Branch& branch);
  Target* pick(Cohort& cohort);
  Target* best_queue(Cohort& cohort);
  Cohort* best_cohort(Cohort& cohort);

  const framework::QuotaTree& quota_;
  NodeIndex preemptor_;
  std::vector<NodeIndex> preemptor_path_;
  std::vector<std::vector<FairCandidate*>> by_queue_{};  // while building
  std::vector<Known> known_{};                           // by node
  Cohort root_{};
};

}  // namespace muster::plugins
