// The part of a cohort tree that leads to some ClusterQueues, in name order: what algorithms walk that choose among
// children level by level (fair sharing). A value; valid until the next fact.
#pragma once

#include "framework/model/quota_tree.h"

#include <vector>

namespace muster::framework {

struct Branch {
  QuotaTree::NodeIndex node = 0;
  std::vector<Branch> cohorts{};
  std::vector<QuotaTree::NodeIndex> queues{};
};

// `queues` all lie in the tree of `root`. A ClusterQueue without cohort is the root of its tree and its only queue.
Branch branch_to(const QuotaTree& quota, QuotaTree::NodeIndex root, const std::vector<QuotaTree::NodeIndex>& queues);

// From the node up to the child of its root; empty for a root.
std::vector<QuotaTree::NodeIndex> path_below_root(const QuotaTree& quota, QuotaTree::NodeIndex node);

}  // namespace muster::framework
