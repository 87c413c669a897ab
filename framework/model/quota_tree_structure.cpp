// Questions about the shape of the tree: names, roots, paths, members.
#include <algorithm>

#include "framework/model/quota_tree.h"

namespace muster::framework {

const QuotaTree::TreeNode* QuotaTree::queue(const ClusterQueueName& name) const {
  const auto it = queues_.find(name.str());
  return it == queues_.end() ? nullptr : &nodes_[it->second];
}

bool QuotaTree::contains(const ClusterQueueName& name) const {
  const TreeNode* node = queue(name);
  return node != nullptr && node->is_explicit;
}

bool QuotaTree::in_cycle(const ClusterQueueName& name) const {
  const TreeNode* node = queue(name);
  return node != nullptr && node->parent && nodes_[*node->parent].in_cycle;
}

bool QuotaTree::has_cohort(const ClusterQueueName& name) const {
  const TreeNode* node = queue(name);
  return node != nullptr && node->parent.has_value();
}

std::string QuotaTree::root_key(const ClusterQueueName& name) const {
  const auto it = queues_.find(name.str());
  if (it == queues_.end()) {
    return "cq/" + name.str();
  }
  const TreeNode& root = nodes_[root_of(it->second)];
  return (root.is_queue ? "cq/" : "cohort/") + root.name;
}

std::string QuotaTree::path_of(const ClusterQueueName& name) const {
  std::string path = "/" + name.str();
  const auto it = queues_.find(name.str());
  if (it == queues_.end()) {
    return path;
  }
  for (auto at = parent_of(it->second); at; at = parent_of(*at)) {
    path = "/" + nodes_[*at].name + path;
  }
  return path;
}

std::vector<ClusterQueueName> QuotaTree::tree_of(const ClusterQueueName& name) const {
  std::vector<ClusterQueueName> out;
  if (const auto it = queues_.find(name.str()); it != queues_.end()) {
    collect_queues(root_of(it->second), out);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<ClusterQueueName> QuotaTree::queues_under_root_of(const CohortName& cohort) const {
  std::vector<ClusterQueueName> out;
  if (const auto it = cohorts_.find(cohort.str()); it != cohorts_.end()) {
    collect_queues(root_of(it->second), out);
  }
  std::sort(out.begin(), out.end());
  return out;
}

void QuotaTree::collect_queues(NodeIndex node, std::vector<ClusterQueueName>& out) const {
  if (nodes_[node].is_queue) {
    if (nodes_[node].is_explicit) {
      out.emplace_back(nodes_[node].name);
    }
    return;
  }
  for (const NodeIndex child : nodes_[node].children) {
    if (parent_of(child) == node) {
      collect_queues(child, out);
    }
  }
}

std::vector<FlavorResource> QuotaTree::resources_of(const ClusterQueueName& name) const {
  const TreeNode* node = queue(name);
  return node == nullptr ? std::vector<FlavorResource>{} : node->order;
}

std::optional<QuotaTree::NodeIndex> QuotaTree::find(const ClusterQueueName& name) const {
  const auto it = queues_.find(name.str());
  return it == queues_.end() ? std::nullopt : std::optional<NodeIndex>(it->second);
}

std::optional<QuotaTree::NodeIndex> QuotaTree::find(const CohortName& name) const {
  const auto it = cohorts_.find(name.str());
  return it == cohorts_.end() ? std::nullopt : std::optional<NodeIndex>(it->second);
}

std::vector<QuotaTree::NodeIndex> QuotaTree::children_of(NodeIndex node) const {
  std::vector<NodeIndex> children;
  for (const NodeIndex child : nodes_[node].children) {
    if (parent_of(child) == node) {
      children.push_back(child);
    }
  }
  return children;
}

}  // namespace muster::framework
