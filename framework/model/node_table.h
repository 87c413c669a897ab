// Nodes and what is used on them: bound pods of every scheduler, and slots planned for pods that do not exist yet.
// Owner: Model. Decision thread only. Usage changes are undo-logged; node objects are facts.
// Amounts are in base units; `pods` is an ordinary column. A node that vanished while pods still sit on it stays as a
// ghost (not listed, not schedulable) until they are gone; pods may be seen before their node.
// Complexity: a usage change or a query is O(resources of the pod · log columns); a node joining or leaving is O(nodes)
// for the sorted list alone.
#pragma once

#include "api/core/node.h"
#include "api/core/pod.h"
#include "base/ids.h"
#include "framework/model/hash.h"
#include "framework/model/undo_log.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace muster::framework {

using NodeId = std::uint32_t;

// What one pod takes from a node.
struct PodFootprint {
  api::ResourceAmounts requests{};  // without `pods`, which is always 1 a pod
  std::vector<api::HostPort> host_ports{};
  friend bool operator==(const PodFootprint&, const PodFootprint&) = default;
};

class NodeTable {
 public:
  explicit NodeTable(UndoLog& undo) : undo_(undo) {}

  NodeTable(const NodeTable&) = delete;
  NodeTable& operator=(const NodeTable&) = delete;

  void upsert(std::shared_ptr<const api::Node> node);
  void remove(const NodeName& name);

  // Ids of existing (non-ghost) nodes in name order. Borrowed; invalid after the next upsert or remove.
  const std::vector<NodeId>& ids() const { return sorted_; }

  std::size_t size() const { return sorted_.size(); }

  std::optional<NodeId> find(const NodeName& name) const;
  const api::Node& node(NodeId id) const;
  NodeName name(NodeId id) const;

  // `count` pods of this footprint more (or fewer) on the node; creates a ghost for an unknown name. Undo-logged.
  void add(const NodeName& name, const PodFootprint& pod, Amount count);
  void release(const NodeName& name, const PodFootprint& pod, Amount count);

  Amount allocatable(NodeId id, const std::string& resource) const;
  Amount used(NodeId id, const std::string& resource) const;
  // allocatable - used; may be negative.
  Amount free(NodeId id, const std::string& resource) const;
  Amount free_pods(NodeId id) const;
  // A clash of (protocol, port) with 0.0.0.0 or the same address.
  bool port_taken(NodeId id, const api::HostPort& port) const;

  // Grows at every change of a node or of usage on it: memo tables compare it.
  std::uint64_t generation() const { return generation_; }

  void undo(const UndoEntry& entry);
  std::uint64_t hash() const;

 private:
  struct PortUse {
    api::HostPort port{};
    Amount count = 0;
  };

  struct Row {
    std::string name{};
    std::shared_ptr<const api::Node> node{};  // null: ghost
    std::vector<Amount> allocatable{};        // by column; a missing tail is zero
    std::vector<Amount> used{};
    std::vector<PortUse> ports{};
  };

  using Column = std::uint32_t;
  static constexpr Column kPodsColumn = 0;

  NodeId row_for(const std::string& name);
  Column column_for(const std::string& resource);
  std::vector<NodeId>::iterator place_of(const std::string& name);
  void change(NodeId id, const PodFootprint& pod, Amount count);
  void change_used(NodeId id, Column column, Amount difference);
  void change_port(NodeId id, const api::HostPort& port, Amount count);
  void drop_if_unused(NodeId id);
  void add_usage_to(Hash& hash, const Row& row) const;

  UndoLog& undo_;
  std::vector<Row> rows_{};
  std::map<std::string, NodeId> by_name_{};
  std::map<std::string, Column> columns_{{"pods", kPodsColumn}};
  std::vector<NodeId> sorted_{};
  std::vector<NodeId> free_rows_{};
  std::uint64_t generation_ = 0;
};

}  // namespace muster::framework
