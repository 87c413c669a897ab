// The quota formulas of spec/admission.md §2.5 and §2.6, recomputed from scratch at every question: no caches, no undo,
// no saturation (128 bits are enough for every sum of 64-bit amounts).
#pragma once

#include "sim/reference/world.h"

#include <bitset>
#include <optional>
#include <vector>

namespace muster::sim::reference {

__extension__ using Big = __int128;

// (flavor, resource) as one index.
inline constexpr int kFrs = kMaxFlavors * kResources;

constexpr int fr_of(int flavor, int resource) {
  return flavor * kResources + resource;
}

// Amounts by (flavor, resource). `named` are those that are asked for: who asks for nothing of one is not concerned by
// it.
struct Usage {
  std::array<Big, kFrs> amount{};
  std::bitset<kFrs> named{};

  void add(int fr, Big value) {
    named[static_cast<std::size_t>(fr)] = names(fr) || value != 0;
    amount[static_cast<std::size_t>(fr)] += value;
  }

  Big of(int fr) const { return amount[static_cast<std::size_t>(fr)]; }

  bool names(int fr) const { return named.test(static_cast<std::size_t>(fr)); }
};

using FrSet = std::bitset<kFrs>;

// Somebody's charge on a ClusterQueue: an admission, a hold, an entry processed before in the same cycle.
struct Charge {
  int queue = 0;
  int workload = 0;
  Usage usage{};
};

struct Level {
  int borrowing = 0;
  bool may_reclaim = false;
};

// A world's quota with these charges on it. Nodes are ClusterQueues (their index), then cohorts (cohort_node).
class QuotaState {
 public:
  QuotaState(const World& world, std::vector<Charge> charges) : world_(&world), charges_(std::move(charges)) {}

  const World& world() const { return *world_; }

  const std::vector<Charge>& charges() const { return charges_; }

  // The same without the charges of these Workloads, and with another one.
  QuotaState without(const std::vector<int>& workloads) const;
  QuotaState with(Charge charge) const;

  int cohort_node(int cohort) const { return static_cast<int>(world_->queues.size()) + cohort; }

  int parent(int node) const;  // -1: a root
  std::vector<int> children(int node) const;

  Big nominal(int node, int fr) const;
  Big subtree(int node, int fr) const;
  Big local(int node, int fr) const;
  Big usage(int node, int fr) const;
  Big local_available(int node, int fr) const;
  Big available(int node, int fr) const;
  Big available_in_queue(int queue, int fr) const;
  Big potential(int node, int fr) const;
  std::optional<Units> borrowing_limit(int node, int fr) const;
  Units weight(int node) const;  // of fair sharing, in thousandths

  bool borrows(int node, int fr, Big extra) const { return usage(node, fr) + extra > subtree(node, fr); }

  bool within_nominal(int node, const FrSet& frs) const;
  int height(int node) const;
  Level level(int queue, int fr, Big value) const;

  // Every amount asked for is available to the queue.
  bool has_room(int queue, const Usage& usage) const;

 private:
  const Quota* quota(int node, int fr) const;

  const World* world_;
  std::vector<Charge> charges_;
};

}  // namespace muster::sim::reference
