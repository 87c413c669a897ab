// The quota tree: ClusterQueues (leaves) under Cohorts, with nominal quota, borrowing and lending limits, and usage a
// (flavor, resource). The formulas are spec/admission.md §2.5 and §2.6, exact and saturating.
// Owner: Model. Decision thread only. Usage changes are undo-logged; configuration changes are facts and are not.
// Complexity: a usage change or an `available` query is O(depth · log(resources of the node)).
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/queues.h"
#include "base/arith.h"
#include "base/ids.h"
#include "framework/model/undo_log.h"

namespace muster::framework {

struct FlavorResource {
  FlavorName flavor{};
  std::string resource{};
  friend auto operator<=>(const FlavorResource&, const FlavorResource&) = default;
  friend bool operator==(const FlavorResource&, const FlavorResource&) = default;
};

// Amounts a (flavor, resource), ordered: what a workload charges its ClusterQueue with.
using Usage = std::map<FlavorResource, Amount>;

struct BorrowLevel {
  int level = 0;                           // 0: within nominal
  bool may_reclaim_in_hierarchy = false;
  friend bool operator==(const BorrowLevel&, const BorrowLevel&) = default;
};

class QuotaTree {
 public:
  explicit QuotaTree(UndoLog& undo) : undo_(undo) {}
  QuotaTree(const QuotaTree&) = delete;
  QuotaTree& operator=(const QuotaTree&) = delete;

  // Facts. Each rebuilds the subtree quotas and usages of the trees it touches.
  void upsert_cluster_queue(const api::ClusterQueue& queue);
  void remove_cluster_queue(const ClusterQueueName& name);
  void upsert_cohort(const api::Cohort& cohort);
  void remove_cohort(const CohortName& name);  // becomes implicit while it has children

  bool contains(const ClusterQueueName& queue) const;
  // A parent cycle above it: such a ClusterQueue is inactive.
  bool in_cycle(const ClusterQueueName& queue) const;
  bool has_cohort(const ClusterQueueName& queue) const;
  // Name of the tree's root as a wake key: `cohort/<root>` or `cq/<queue>` for a queue without cohort.
  std::string root_key(const ClusterQueueName& queue) const;
  // `/<root>/…/<queue>`, as preemption messages print it.
  std::string path_of(const ClusterQueueName& queue) const;
  // All ClusterQueues of the queue's tree, itself included, in name order.
  std::vector<ClusterQueueName> tree_of(const ClusterQueueName& queue) const;
  // ClusterQueues of the tree that `cohort` belongs to; empty when unknown.
  std::vector<ClusterQueueName> queues_under_root_of(const CohortName& cohort) const;

  // Undo-logged.
  void add_usage(const ClusterQueueName& queue, const Usage& usage);
  void remove_usage(const ClusterQueueName& queue, const Usage& usage);

  Amount nominal(const ClusterQueueName& queue, const FlavorResource& fr) const;
  Amount usage(const ClusterQueueName& queue, const FlavorResource& fr) const;
  std::optional<Amount> borrowing_limit(const ClusterQueueName& queue, const FlavorResource& fr) const;
  // availCQ: never negative.
  Amount available(const ClusterQueueName& queue, const FlavorResource& fr) const;
  // The most this queue could ever hold, with everything lent and nothing used.
  Amount potential(const ClusterQueueName& queue, const FlavorResource& fr) const;
  // Would `extra` more exceed the queue's own nominal quota?
  bool borrows(const ClusterQueueName& queue, const FlavorResource& fr, Amount extra) const;
  BorrowLevel borrow_level(const ClusterQueueName& queue, const FlavorResource& fr, Amount extra) const;
  bool fits(const ClusterQueueName& queue, const Usage& usage) const;
  // All (flavor, resource) of the queue in manifest order.
  std::vector<FlavorResource> resources_of(const ClusterQueueName& queue) const;

  // ---- the tree itself, for algorithms that walk it (preemption, fair sharing) ----
  // A ClusterQueue or a Cohort. Valid until the next fact.
  using NodeIndex = std::uint32_t;
  // Dense ids of (flavor, resource) and of resources; they outlive facts.
  using FrId = std::uint32_t;
  using ResourceId = std::uint32_t;
  // What one node has of a (flavor, resource). `subtree`: its own quota and what its children lend it.
  struct Cell {
    FrId fr = 0;
    Amount nominal = 0;
    std::optional<Amount> borrowing_limit{};
    std::optional<Amount> lending_limit{};
    Amount subtree = 0;
    Amount usage = 0;

    // Never lent to the parent.
    Amount local_quota() const {
      return lending_limit ? std::max<Amount>(0, sat_sub(subtree, *lending_limit)) : 0;
    }
    Amount local_available() const { return std::max<Amount>(0, sat_sub(local_quota(), usage)); }
  };
  // The most of a resource, over all flavors, that the children of a cohort could get through it.
  struct Lendable {
    ResourceId resource = 0;
    Amount amount = 0;  // positive
  };
  struct Share {
    Amount subtree = 0;
    Amount usage = 0;
    Amount local_available = 0;  // unused of what it never lends
  };
  std::optional<NodeIndex> find(const ClusterQueueName& queue) const;
  std::optional<NodeIndex> find(const CohortName& cohort) const;
  // The parent that arithmetic uses: none within a cycle of cohorts.
  std::optional<NodeIndex> parent_of(NodeIndex node) const;
  // Those whose parent_of is this node.
  std::vector<NodeIndex> children_of(NodeIndex node) const;
  bool is_queue(NodeIndex node) const { return nodes_[node].is_queue; }
  const std::string& name_of(NodeIndex node) const { return nodes_[node].name; }
  NodeIndex root_of(NodeIndex node) const;
  Share share_of(NodeIndex node, const FlavorResource& fr) const;

  // ---- for shares (framework/model/fair_share.h) ----
  std::span<const Cell> cells_of(NodeIndex node) const { return nodes_[node].cells; }  // sorted by fr
  const Cell* find_cell(NodeIndex node, FrId fr) const;
  std::optional<FrId> id_of(const FlavorResource& fr) const;
  ResourceId resource_of(FrId fr) const { return resource_of_[fr]; }
  // In name order of the resources; empty for a ClusterQueue. Kept with the facts.
  std::span<const Lendable> lendable_of(NodeIndex cohort) const { return nodes_[cohort].lendable; }
  Amount weight_nano_of(NodeIndex node) const { return nodes_[node].weight_nano; }
  // Differs whenever the node's usage or quota may differ: for caches that live between two facts.
  std::uint64_t version_of(NodeIndex node) const { return nodes_[node].version; }

  void undo(const UndoEntry& entry);
  // For the self-audit and for tests of rollback: equal states have equal hashes.
  std::uint64_t hash() const;

 private:
  struct TreeNode {
    std::string name{};
    bool is_queue = false;
    bool is_explicit = false;  // has an object; what has none vanishes when it has neither children nor usage
    bool in_cycle = false;
    std::optional<NodeIndex> parent{};
    std::set<NodeIndex> children{};
    std::vector<Cell> cells{};           // sorted by fr
    std::vector<FlavorResource> order{};  // manifest order
    Amount weight_nano = 1'000'000'000;
    std::vector<Lendable> lendable{};
    std::uint64_t version = 0;
  };

  NodeIndex node_for(const std::string& name, bool is_queue);
  const TreeNode* queue(const ClusterQueueName& name) const;
  void set_quotas(NodeIndex node, const std::vector<api::ResourceGroup>& groups);
  void set_parent(NodeIndex node, const std::string& parent);
  // The object is gone: the node keeps usage or children, if any, and nothing else.
  void forget_object(NodeIndex node);
  void drop_if_unused(NodeIndex node);
  void mark_cycles();
  void rebuild_tree(NodeIndex root);
  void rebuild(NodeIndex node);
  void set_lendable(NodeIndex node, NodeIndex root);
  void collect_queues(NodeIndex node, std::vector<ClusterQueueName>& out) const;

  FrId intern(const FlavorResource& fr);
  Cell& cell_for(NodeIndex node, FrId fr);
  Amount available_at(NodeIndex node, FrId fr) const;
  Amount potential_at(NodeIndex node, FrId fr) const;
  void set_usage(NodeIndex node, FrId fr, Amount value);
  void add_at(NodeIndex node, FrId fr, Amount amount);
  void remove_at(NodeIndex node, FrId fr, Amount amount);
  int height(NodeIndex node) const;

  UndoLog& undo_;
  std::vector<TreeNode> nodes_{};
  std::vector<NodeIndex> free_nodes_{};
  std::map<std::string, NodeIndex> queues_{};
  std::map<std::string, NodeIndex> cohorts_{};
  std::map<FlavorResource, FrId> fr_ids_{};
  std::map<std::string, ResourceId> resource_ids_{};
  std::vector<ResourceId> resource_of_{};  // by FrId
};

}  // namespace muster::framework
