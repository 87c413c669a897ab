// Wake-up keys: what can cure a rejection. A rejected class of workloads is parked under its keys and only an event
// with one of them brings it back. Plain values, totally ordered.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

namespace muster::framework {

enum class WakeKind : std::uint8_t {
  kQuota,         // usage released or quota raised in the tree; name = its root (cohort or ClusterQueue)
  kClusterQueue,  // this ClusterQueue changed or became active; name = ClusterQueue
  kLocalQueue,    // name = ns/localqueue
  kFlavor,        // name = ResourceFlavor
  kNamespace,     // labels changed; name = namespace
  kNodes,         // node added, changed for the better, or capacity freed on one; name empty
  kPods,          // pods of the workload appeared, changed or went; name = workload ns/name
  kWorkload,      // the workload itself changed; name = ns/name
  kCheck,         // admission check state; name = check
  kTime,          // its back-off ended; name = workload ns/name
};

std::string_view to_string(WakeKind kind);

struct Wake {
  WakeKind kind = WakeKind::kWorkload;
  std::string name{};
  friend auto operator<=>(const Wake&, const Wake&) = default;
  friend bool operator==(const Wake&, const Wake&) = default;
};

}  // namespace muster::framework
