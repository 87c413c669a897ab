// Strong names: a ClusterQueue's name never converts into a flavor's. Plain values, ordered and hashable.
#pragma once

#include <compare>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace muster {

template <class Tag>
class Name {
 public:
  Name() = default;
  explicit Name(std::string value) : value_(std::move(value)) {}
  explicit Name(std::string_view value) : value_(value) {}
  explicit Name(const char* value) : value_(value) {}

  const std::string& str() const { return value_; }
  bool empty() const { return value_.empty(); }
  friend auto operator<=>(const Name&, const Name&) = default;
  friend bool operator==(const Name&, const Name&) = default;

 private:
  std::string value_{};
};

using ClusterQueueName = Name<struct ClusterQueueTag>;
using CohortName = Name<struct CohortTag>;
using FlavorName = Name<struct FlavorTag>;
using LocalQueueName = Name<struct LocalQueueTag>;
using NodeName = Name<struct NodeTag>;
using ResourceName = Name<struct ResourceTag>;
using PriorityClassName = Name<struct PriorityClassTag>;
using Uid = Name<struct UidTag>;

// `namespace/name` of a namespaced object; for a cluster-scoped one `ns` is empty.
struct ObjectKey {
  std::string ns{};
  std::string name{};

  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
  friend bool operator==(const ObjectKey&, const ObjectKey&) = default;
};

inline std::string to_string(const ObjectKey& key) { return key.ns.empty() ? key.name : key.ns + "/" + key.name; }

}  // namespace muster

template <class Tag>
struct std::hash<muster::Name<Tag>> {
  std::size_t operator()(const muster::Name<Tag>& name) const noexcept { return std::hash<std::string>{}(name.str()); }
};

template <>
struct std::hash<muster::ObjectKey> {
  std::size_t operator()(const muster::ObjectKey& key) const noexcept {
    return std::hash<std::string>{}(key.ns) * 31 + std::hash<std::string>{}(key.name);
  }
};
