#include "framework/model/node_table.h"

#include "base/check.h"

#include <algorithm>

namespace muster::framework {
namespace {

// What one pod can count for at most. Far above any node, and small enough that no sum over the pods of a node
// saturates: a saturated sum could not be taken back when the pod goes.
constexpr Amount kLargestShare = Amount{1} << 53;

Amount at_or_zero(const std::vector<Amount>& amounts, std::size_t column) {
  return column < amounts.size() ? amounts[column] : 0;
}

Amount& slot_of(std::vector<Amount>& amounts, std::size_t column) {
  if (column >= amounts.size()) {
    amounts.resize(column + 1, 0);
  }
  return amounts[column];
}

bool is_any_address(const std::string& ip) {
  return ip.empty() || ip == "0.0.0.0";
}

bool same_protocol(const std::string& a, const std::string& b) {
  static const std::string kTcp = "TCP";
  return (a.empty() ? kTcp : a) == (b.empty() ? kTcp : b);
}

bool clash(const api::HostPort& a, const api::HostPort& b) {
  return a.port == b.port && same_protocol(a.protocol, b.protocol) &&
         (is_any_address(a.ip) || is_any_address(b.ip) || a.ip == b.ip);
}

}  // namespace

// ---- facts ----

void NodeTable::upsert(std::shared_ptr<const api::Node> node) {
  MUSTER_CHECK(node != nullptr) << "a node that is null";
  const NodeId id = row_for(node->meta.name);
  Row& row = rows_[id];
  row.allocatable.assign(row.allocatable.size(), 0);
  for (const auto& [resource, amount] : node->allocatable) {
    slot_of(row.allocatable, column_for(resource)) = amount;
  }
  if (row.node == nullptr) {
    sorted_.insert(place_of(row.name), id);
  }
  row.node = std::move(node);
  ++generation_;
}

void NodeTable::remove(const NodeName& name) {
  const std::optional<NodeId> id = find(name);
  if (!id) {
    return;
  }
  sorted_.erase(place_of(name.str()));
  rows_[*id].node.reset();
  rows_[*id].allocatable.clear();
  drop_if_unused(*id);
  ++generation_;
}

std::optional<NodeId> NodeTable::find(const NodeName& name) const {
  const auto it = by_name_.find(name.str());
  if (it == by_name_.end() || rows_[it->second].node == nullptr) {
    return std::nullopt;
  }
  return it->second;
}

const api::Node& NodeTable::node(NodeId id) const {
  MUSTER_CHECK(rows_[id].node != nullptr) << "node " << rows_[id].name << " is a ghost";
  return *rows_[id].node;
}

NodeName NodeTable::name(NodeId id) const {
  return NodeName(rows_[id].name);
}

NodeId NodeTable::row_for(const std::string& name) {
  if (const auto it = by_name_.find(name); it != by_name_.end()) {
    return it->second;
  }
  NodeId id = 0;
  if (free_rows_.empty()) {
    id = static_cast<NodeId>(rows_.size());
    rows_.emplace_back();
  } else {
    id = free_rows_.back();
    free_rows_.pop_back();
  }
  rows_[id] = Row{.name = name};
  by_name_.emplace(name, id);
  return id;
}

NodeTable::Column NodeTable::column_for(const std::string& resource) {
  return columns_.try_emplace(resource, static_cast<Column>(columns_.size())).first->second;
}

std::vector<NodeId>::iterator NodeTable::place_of(const std::string& name) {
  return std::lower_bound(sorted_.begin(), sorted_.end(), name,
                          [this](NodeId id, const std::string& wanted) { return rows_[id].name < wanted; });
}

// Never inside a transaction: its undo entries name rows by id.
void NodeTable::drop_if_unused(NodeId id) {
  Row& row = rows_[id];
  const bool used = std::any_of(row.used.begin(), row.used.end(), [](Amount amount) { return amount != 0; });
  if (undo_.recording() || row.node != nullptr || used) {
    return;
  }
  by_name_.erase(row.name);
  row = Row{};
  free_rows_.push_back(id);
}

// ---- usage ----

void NodeTable::add(const NodeName& name, const PodFootprint& pod, Amount count) {
  change(row_for(name.str()), pod, count);
}

void NodeTable::release(const NodeName& name, const PodFootprint& pod, Amount count) {
  const NodeId id = row_for(name.str());
  change(id, pod, -count);
  drop_if_unused(id);
}

void NodeTable::change(NodeId id, const PodFootprint& pod, Amount count) {
  change_used(id, kPodsColumn, count);
  for (const auto& [resource, amount] : pod.requests) {
    if (resource != "pods") {
      change_used(id, column_for(resource), sat_mul(std::min(amount, kLargestShare), count));
    }
  }
  for (const api::HostPort& port : pod.host_ports) {
    change_port(id, port, count);
  }
  ++generation_;
}

void NodeTable::change_used(NodeId id, Column column, Amount difference) {
  if (difference == 0) {
    return;
  }
  Amount& used = slot_of(rows_[id].used, column);
  undo_.record({.kind = UndoKind::kNodeUsed, .owner = id, .slot = column, .old_value = used});
  used = sat_add(used, difference);
  MUSTER_DCHECK(used >= 0) << "usage of node " << rows_[id].name << " below zero";
}

// Entries of zero are dropped, but not while undo entries may name them by position.
void NodeTable::change_port(NodeId id, const api::HostPort& port, Amount count) {
  std::vector<PortUse>& ports = rows_[id].ports;
  auto use = std::find_if(ports.begin(), ports.end(), [&port](const PortUse& other) { return other.port == port; });
  if (use == ports.end()) {
    use = ports.insert(ports.end(), PortUse{.port = port});
  }
  undo_.record({.kind = UndoKind::kNodePort,
                .owner = id,
                .slot = static_cast<std::uint32_t>(use - ports.begin()),
                .old_value = use->count});
  use->count += count;
  if (!undo_.recording()) {
    std::erase_if(ports, [](const PortUse& other) { return other.count == 0; });
  }
}

// ---- queries ----

Amount NodeTable::allocatable(NodeId id, const std::string& resource) const {
  const auto it = columns_.find(resource);
  return it == columns_.end() ? 0 : at_or_zero(rows_[id].allocatable, it->second);
}

Amount NodeTable::used(NodeId id, const std::string& resource) const {
  const auto it = columns_.find(resource);
  return it == columns_.end() ? 0 : at_or_zero(rows_[id].used, it->second);
}

Amount NodeTable::free(NodeId id, const std::string& resource) const {
  const auto it = columns_.find(resource);
  if (it == columns_.end()) {
    return 0;
  }
  return sat_sub(at_or_zero(rows_[id].allocatable, it->second), at_or_zero(rows_[id].used, it->second));
}

Amount NodeTable::free_pods(NodeId id) const {
  return sat_sub(at_or_zero(rows_[id].allocatable, kPodsColumn), at_or_zero(rows_[id].used, kPodsColumn));
}

bool NodeTable::port_taken(NodeId id, const api::HostPort& port) const {
  const std::vector<PortUse>& ports = rows_[id].ports;
  return std::any_of(ports.begin(), ports.end(),
                     [&port](const PortUse& use) { return use.count > 0 && clash(use.port, port); });
}

// ---- undo and audit ----

void NodeTable::undo(const UndoEntry& entry) {
  if (entry.kind == UndoKind::kNodePort) {
    rows_[entry.owner].ports[entry.slot].count = entry.old_value;
  } else {
    rows_[entry.owner].used[entry.slot] = entry.old_value;
  }
  ++generation_;
}

std::uint64_t NodeTable::hash() const {
  Hash hash;
  for (const auto& [name, id] : by_name_) {
    const Row& row = rows_[id];
    const bool used = std::any_of(row.used.begin(), row.used.end(), [](Amount amount) { return amount != 0; });
    if (row.node == nullptr && !used) {
      continue;  // left over from a speculation that was rolled back
    }
    hash.add(name).add(row.node != nullptr ? 1 : 0);
    add_usage_to(hash, row);
  }
  return hash.value();
}

// By names, not by positions: those depend on the order in which things were first seen.
void NodeTable::add_usage_to(Hash& hash, const Row& row) const {
  for (const auto& [resource, column] : columns_) {
    const Amount allocatable = at_or_zero(row.allocatable, column);
    const Amount used = at_or_zero(row.used, column);
    if (allocatable != 0 || used != 0) {
      hash.add(resource).add(allocatable).add(used);
    }
  }
  std::map<api::HostPort, Amount> ports;
  for (const PortUse& use : row.ports) {
    if (use.count != 0) {
      ports.emplace(use.port, use.count);
    }
  }
  for (const auto& [port, count] : ports) {
    hash.add(port.ip).add(port.protocol).add(port.port).add(count);
  }
}

}  // namespace muster::framework
