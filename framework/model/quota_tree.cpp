#include "framework/model/quota_tree.h"

#include <algorithm>

#include "framework/model/hash.h"

namespace muster::framework {

namespace {

// Validation refuses negative weights; one that slipped through counts as zero.
template <class Member>
Amount weight_of(const Member& member) {
  return std::max<Amount>(0, member.fair_weight_nano.value_or(1'000'000'000));
}

}  // namespace

// ---- facts ----

void QuotaTree::upsert_cluster_queue(const api::ClusterQueue& queue) {
  const NodeIndex node = node_for(queue.meta.name, true);
  const NodeIndex old_root = root_of(node);
  nodes_[node].is_explicit = true;
  nodes_[node].weight_nano = weight_of(queue);
  set_quotas(node, queue.resource_groups);
  set_parent(node, queue.cohort.str());
  mark_cycles();
  if (old_root != node) {
    rebuild_tree(old_root);
  }
  rebuild_tree(root_of(node));
}

void QuotaTree::remove_cluster_queue(const ClusterQueueName& name) {
  if (const auto it = queues_.find(name.str()); it != queues_.end()) {
    forget_object(it->second);
  }
}

void QuotaTree::upsert_cohort(const api::Cohort& cohort) {
  const NodeIndex node = node_for(cohort.meta.name, false);
  const NodeIndex old_root = root_of(node);
  nodes_[node].is_explicit = true;
  nodes_[node].weight_nano = weight_of(cohort);
  set_quotas(node, cohort.resource_groups);
  set_parent(node, cohort.parent.str());
  mark_cycles();
  rebuild_tree(root_of(old_root));
  rebuild_tree(root_of(node));
}

void QuotaTree::remove_cohort(const CohortName& name) {
  if (const auto it = cohorts_.find(name.str()); it != cohorts_.end()) {
    forget_object(it->second);
  }
}

void QuotaTree::forget_object(NodeIndex node) {
  const NodeIndex old_root = root_of(node);
  nodes_[node].is_explicit = false;
  nodes_[node].weight_nano = TreeNode{}.weight_nano;
  set_quotas(node, {});
  set_parent(node, "");
  mark_cycles();
  if (old_root != node) {
    rebuild_tree(old_root);
  }
  rebuild_tree(node);
  drop_if_unused(node);
}

QuotaTree::NodeIndex QuotaTree::node_for(const std::string& name, bool is_queue) {
  auto& index = is_queue ? queues_ : cohorts_;
  if (const auto it = index.find(name); it != index.end()) {
    return it->second;
  }
  NodeIndex node = 0;
  if (free_nodes_.empty()) {
    node = static_cast<NodeIndex>(nodes_.size());
    nodes_.emplace_back();
  } else {
    node = free_nodes_.back();
    free_nodes_.pop_back();
  }
  nodes_[node] = TreeNode{.name = name, .is_queue = is_queue};
  index.emplace(name, node);
  return node;
}

void QuotaTree::set_quotas(NodeIndex node, const std::vector<api::ResourceGroup>& groups) {
  std::vector<Cell> used;
  for (const Cell& cell : nodes_[node].cells) {
    if (cell.usage != 0) {
      used.push_back(Cell{.fr = cell.fr, .usage = cell.usage});
    }
  }
  nodes_[node].cells = std::move(used);
  nodes_[node].order.clear();
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& quota : flavor.resources) {
        const FlavorResource fr{flavor.name, quota.resource};
        Cell& cell = cell_for(node, intern(fr));
        cell.nominal = quota.nominal;
        cell.borrowing_limit = quota.borrowing_limit;
        cell.lending_limit = quota.lending_limit;
        nodes_[node].order.push_back(fr);
      }
    }
  }
}

void QuotaTree::set_parent(NodeIndex node, const std::string& parent) {
  const std::optional<NodeIndex> fresh =
      parent.empty() ? std::nullopt : std::optional<NodeIndex>(node_for(parent, false));
  const std::optional<NodeIndex> old = nodes_[node].parent;
  if (old == fresh) {
    return;
  }
  nodes_[node].parent = fresh;
  if (fresh) {
    nodes_[*fresh].children.insert(node);
  }
  if (old) {
    nodes_[*old].children.erase(node);
    drop_if_unused(*old);
  }
}

void QuotaTree::drop_if_unused(NodeIndex node) {
  const TreeNode& n = nodes_[node];
  const bool in_use = std::any_of(n.cells.begin(), n.cells.end(), [](const Cell& c) { return c.usage != 0; });
  if (n.is_explicit || !n.children.empty() || (n.is_queue && in_use)) {
    return;
  }
  const std::optional<NodeIndex> parent = n.parent;
  (n.is_queue ? queues_ : cohorts_).erase(n.name);
  nodes_[node] = TreeNode{};
  free_nodes_.push_back(node);
  if (parent) {
    nodes_[*parent].children.erase(node);
    drop_if_unused(*parent);
  }
}

void QuotaTree::mark_cycles() {
  for (TreeNode& node : nodes_) {
    node.in_cycle = false;
  }
  for (const auto& [name, start] : cohorts_) {
    std::set<NodeIndex> seen;
    std::optional<NodeIndex> at = start;
    while (at && seen.insert(*at).second) {
      at = nodes_[*at].parent;
    }
    if (at) {  // ran into a cycle: everything on the way lies under it
      for (const NodeIndex node : seen) {
        nodes_[node].in_cycle = true;
      }
    }
  }
}

std::optional<QuotaTree::NodeIndex> QuotaTree::parent_of(NodeIndex node) const {
  const std::optional<NodeIndex> parent = nodes_[node].parent;
  return parent && nodes_[*parent].in_cycle ? std::nullopt : parent;
}

QuotaTree::NodeIndex QuotaTree::root_of(NodeIndex node) const {
  while (const std::optional<NodeIndex> parent = parent_of(node)) {
    node = *parent;
  }
  return node;
}

void QuotaTree::rebuild_tree(NodeIndex root) {
  rebuild(root);
  set_lendable(root, root);
}

void QuotaTree::set_lendable(NodeIndex node, NodeIndex root) {
  TreeNode& n = nodes_[node];
  ++n.version;
  n.lendable.clear();
  if (n.is_queue) {
    return;
  }
  std::map<ResourceId, Amount> sums;
  for (const Cell& cell : nodes_[root].cells) {  // holds every (flavor, resource) of the tree
    Amount& sum = sums[resource_of_[cell.fr]];
    sum = sat_add(sum, potential_at(node, cell.fr));
  }
  for (const auto& [name, resource] : resource_ids_) {
    if (const auto sum = sums.find(resource); sum != sums.end() && sum->second > 0) {
      n.lendable.push_back({resource, sum->second});
    }
  }
  for (const NodeIndex child : children_of(node)) {
    set_lendable(child, root);
  }
}

void QuotaTree::rebuild(NodeIndex node) {
  const std::vector<NodeIndex> children = children_of(node);
  for (const NodeIndex child : children) {
    rebuild(child);
  }
  const bool is_queue = nodes_[node].is_queue;
  for (Cell& cell : nodes_[node].cells) {
    cell.subtree = cell.nominal;
    if (!is_queue) {
      cell.usage = 0;
    }
  }
  for (const NodeIndex child : children) {
    const std::vector<Cell> cells = nodes_[child].cells;
    for (const Cell& from : cells) {
      Cell& to = cell_for(node, from.fr);
      to.subtree = sat_add(to.subtree, sat_sub(from.subtree, from.local_quota()));
      to.usage = sat_add(to.usage, std::max<Amount>(0, sat_sub(from.usage, from.local_quota())));
    }
  }
}

// ---- amounts ----

QuotaTree::FrId QuotaTree::intern(const FlavorResource& fr) {
  const auto [it, fresh] = fr_ids_.emplace(fr, static_cast<FrId>(fr_ids_.size()));
  if (fresh) {
    const auto next = static_cast<ResourceId>(resource_ids_.size());
    resource_of_.push_back(resource_ids_.emplace(fr.resource, next).first->second);
  }
  return it->second;
}

std::optional<QuotaTree::FrId> QuotaTree::id_of(const FlavorResource& fr) const {
  const auto it = fr_ids_.find(fr);
  return it == fr_ids_.end() ? std::nullopt : std::optional<FrId>(it->second);
}

const QuotaTree::Cell* QuotaTree::find_cell(NodeIndex node, FrId fr) const {
  const auto& cells = nodes_[node].cells;
  const auto it = std::lower_bound(cells.begin(), cells.end(), fr, [](const Cell& c, FrId id) { return c.fr < id; });
  return it != cells.end() && it->fr == fr ? &*it : nullptr;
}

QuotaTree::Cell& QuotaTree::cell_for(NodeIndex node, FrId fr) {
  auto& cells = nodes_[node].cells;
  auto it = std::lower_bound(cells.begin(), cells.end(), fr, [](const Cell& c, FrId id) { return c.fr < id; });
  if (it == cells.end() || it->fr != fr) {
    it = cells.insert(it, Cell{.fr = fr});
  }
  return *it;
}

Amount QuotaTree::available_at(NodeIndex node, FrId fr) const {
  static const Cell kNone{};
  const Cell* found = find_cell(node, fr);
  const Cell& cell = found == nullptr ? kNone : *found;
  const std::optional<NodeIndex> parent = parent_of(node);
  if (!parent) {
    return sat_sub(cell.subtree, cell.usage);
  }
  Amount from_parent = available_at(*parent, fr);
  if (cell.borrowing_limit) {
    const Amount local = cell.local_quota();
    const Amount used_of_parent = std::max<Amount>(0, sat_sub(cell.usage, local));
    const Amount lendable = sat_sub(sat_sub(cell.subtree, local), used_of_parent);
    from_parent = std::min(from_parent, sat_add(lendable, *cell.borrowing_limit));
  }
  return sat_add(cell.local_available(), from_parent);
}

Amount QuotaTree::potential_at(NodeIndex node, FrId fr) const {
  static const Cell kNone{};
  const Cell* found = find_cell(node, fr);
  const Cell& cell = found == nullptr ? kNone : *found;
  const std::optional<NodeIndex> parent = parent_of(node);
  if (!parent) {
    return cell.subtree;
  }
  const Amount most = sat_add(cell.local_quota(), potential_at(*parent, fr));
  return cell.borrowing_limit ? std::min(most, sat_add(cell.subtree, *cell.borrowing_limit)) : most;
}

Amount QuotaTree::nominal(const ClusterQueueName& name, const FlavorResource& fr) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  const Cell* cell = it != queues_.end() && id ? find_cell(it->second, *id) : nullptr;
  return cell == nullptr ? 0 : cell->nominal;
}

Amount QuotaTree::usage(const ClusterQueueName& name, const FlavorResource& fr) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  const Cell* cell = it != queues_.end() && id ? find_cell(it->second, *id) : nullptr;
  return cell == nullptr ? 0 : cell->usage;
}

std::optional<Amount> QuotaTree::borrowing_limit(const ClusterQueueName& name, const FlavorResource& fr) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  const Cell* cell = it != queues_.end() && id ? find_cell(it->second, *id) : nullptr;
  return cell == nullptr ? std::nullopt : cell->borrowing_limit;
}

Amount QuotaTree::available(const ClusterQueueName& name, const FlavorResource& fr) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  return it == queues_.end() || !id ? 0 : std::max<Amount>(0, available_at(it->second, *id));
}

Amount QuotaTree::potential(const ClusterQueueName& name, const FlavorResource& fr) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  return it == queues_.end() || !id ? 0 : potential_at(it->second, *id);
}

bool QuotaTree::borrows(const ClusterQueueName& name, const FlavorResource& fr, Amount extra) const {
  return sat_add(usage(name, fr), extra) > nominal(name, fr);
}

BorrowLevel QuotaTree::borrow_level(const ClusterQueueName& name, const FlavorResource& fr, Amount extra) const {
  const auto it = queues_.find(name.str());
  const auto id = id_of(fr);
  if (it == queues_.end() || !id) {
    return {};
  }
  std::optional<NodeIndex> at = parent_of(it->second);
  if (!borrows(name, fr, extra) || !at) {
    return {0, at.has_value()};
  }
  const Cell* leaf = find_cell(it->second, *id);
  Amount rest = sat_sub(extra, leaf == nullptr ? 0 : leaf->local_available());
  NodeIndex last = it->second;
  for (; at; at = parent_of(*at)) {
    last = *at;
    static const Cell kNone{};
    const Cell* found = find_cell(*at, *id);
    const Cell& cell = found == nullptr ? kNone : *found;
    if (sat_add(cell.usage, rest) <= cell.subtree) {
      return {height(*at), parent_of(*at).has_value()};
    }
    rest = sat_sub(rest, cell.local_available());
  }
  return {height(last), false};
}

QuotaTree::Share QuotaTree::share_of(NodeIndex node, const FlavorResource& fr) const {
  const auto id = id_of(fr);
  const Cell* cell = id ? find_cell(node, *id) : nullptr;
  return cell == nullptr ? Share{} : Share{cell->subtree, cell->usage, cell->local_available()};
}

bool QuotaTree::fits(const ClusterQueueName& name, const Usage& usage) const {
  return std::all_of(usage.begin(), usage.end(),
                     [&](const auto& item) { return item.second <= available(name, item.first); });
}

int QuotaTree::height(NodeIndex node) const {
  int tallest = -1;
  for (const NodeIndex child : nodes_[node].children) {
    tallest = std::max(tallest, nodes_[child].is_queue ? 0 : height(child));
  }
  return tallest + 1;
}

// ---- usage ----

void QuotaTree::add_usage(const ClusterQueueName& name, const Usage& usage) {
  const NodeIndex node = node_for(name.str(), true);
  for (const auto& [fr, amount] : usage) {
    add_at(node, intern(fr), amount);
  }
}

void QuotaTree::remove_usage(const ClusterQueueName& name, const Usage& usage) {
  const NodeIndex node = node_for(name.str(), true);
  for (const auto& [fr, amount] : usage) {
    remove_at(node, intern(fr), amount);
  }
  if (!undo_.recording()) {
    drop_if_unused(node);
  }
}

void QuotaTree::set_usage(NodeIndex node, FrId fr, Amount value) {
  Cell& cell = cell_for(node, fr);
  undo_.record({.kind = UndoKind::kQuotaUsage, .owner = node, .slot = fr, .old_value = cell.usage});
  cell.usage = value;
  ++nodes_[node].version;
}

void QuotaTree::add_at(NodeIndex node, FrId fr, Amount amount) {
  const Cell& cell = cell_for(node, fr);
  const Amount from_local = cell.local_available();
  set_usage(node, fr, sat_add(cell.usage, amount));
  const std::optional<NodeIndex> parent = parent_of(node);
  if (parent && amount > from_local) {
    add_at(*parent, fr, sat_sub(amount, from_local));
  }
}

void QuotaTree::remove_at(NodeIndex node, FrId fr, Amount amount) {
  const Cell& cell = cell_for(node, fr);
  const Amount in_parent = sat_sub(cell.usage, cell.local_quota());
  set_usage(node, fr, std::max<Amount>(0, sat_sub(cell.usage, amount)));  // less than was added where the sum saturated
  const std::optional<NodeIndex> parent = parent_of(node);
  if (parent && in_parent > 0) {
    remove_at(*parent, fr, std::min(amount, in_parent));
  }
}

void QuotaTree::undo(const UndoEntry& entry) {
  cell_for(entry.owner, entry.slot).usage = entry.old_value;
  ++nodes_[entry.owner].version;
}

std::uint64_t QuotaTree::hash() const {
  Hash hash;
  for (const auto& [fr, id] : fr_ids_) {
    for (const auto* index : {&queues_, &cohorts_}) {
      for (const auto& [name, node] : *index) {
        const Cell* cell = find_cell(node, id);
        if (cell != nullptr && (cell->usage != 0 || cell->subtree != 0)) {
          hash.add(name).add(fr.flavor.str()).add(fr.resource).add(cell->usage).add(cell->subtree);
        }
      }
    }
  }
  return hash.value();
}

}  // namespace muster::framework
