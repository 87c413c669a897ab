#include "framework/model/branch.h"

#include <algorithm>

namespace muster::framework {

namespace {

Branch& child_of(Branch& branch, QuotaTree::NodeIndex node) {
  for (Branch& child : branch.cohorts) {
    if (child.node == node) {
      return child;
    }
  }
  return branch.cohorts.emplace_back(Branch{.node = node});
}

void sort_by_name(const QuotaTree& quota, Branch& branch) {
  std::sort(branch.queues.begin(), branch.queues.end(),
            [&](auto a, auto b) { return quota.name_of(a) < quota.name_of(b); });
  std::sort(branch.cohorts.begin(), branch.cohorts.end(),
            [&](const Branch& a, const Branch& b) { return quota.name_of(a.node) < quota.name_of(b.node); });
  for (Branch& child : branch.cohorts) {
    sort_by_name(quota, child);
  }
}

}  // namespace

Branch branch_to(const QuotaTree& quota, QuotaTree::NodeIndex root, const std::vector<QuotaTree::NodeIndex>& queues) {
  Branch branch{.node = root};
  for (const QuotaTree::NodeIndex queue : queues) {
    const std::vector<QuotaTree::NodeIndex> path = path_below_root(quota, queue);
    Branch* at = &branch;
    for (auto step = path.rbegin(); step != path.rend() && *step != queue; ++step) {
      at = &child_of(*at, *step);
    }
    at->queues.push_back(queue);
  }
  sort_by_name(quota, branch);
  return branch;
}

std::vector<QuotaTree::NodeIndex> path_below_root(const QuotaTree& quota, QuotaTree::NodeIndex node) {
  std::vector<QuotaTree::NodeIndex> path;
  for (auto parent = quota.parent_of(node); parent; parent = quota.parent_of(node)) {
    path.push_back(node);
    node = *parent;
  }
  return path;
}

}  // namespace muster::framework
