// The answer of `muster explain`: what one Workload waits for, as values. Made by framework/explain/explain.h, printed
// by cmd/.
#pragma once

#include "base/ids.h"
#include "framework/findings.h"
#include "framework/wake.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::framework {

enum class Standing : std::uint8_t {
  kUnknown,  // no such Workload
  kFinished,
  kDeleting,
  kAdmitted,
  kReserved,     // quota reserved, not admitted yet
  kEvicted,      // on its way out: its job has not stopped yet
  kDeactivated,  // spec.active is false
  kNotQueued,    // its queue is missing or stopped, it is gated or on hold
  kParked,       // queued, rejected, asleep until something cures it
  kBehind,       // queued, behind the head of a StrictFIFO ClusterQueue or a preemptor
  kReady,        // queued, and about to be tried
};

std::string_view to_string(Standing standing);

// What would bring the Workload back. Either a wake of the queue, or a sentence alone.
struct Cure {
  std::optional<Wake> wake{};
  std::string text{};
  friend bool operator==(const Cure&, const Cure&) = default;
};

struct Position {
  std::int32_t index = 0;  // 0: next
  std::int32_t of = 0;     // how many wait
  friend bool operator==(const Position&, const Position&) = default;
};

// Who has quota that the Workload could use.
struct Holder {
  ObjectKey workload{};
  ClusterQueueName cluster_queue{};
  Amount amount = 0;
  std::int64_t priority = 0;
  bool claim = false;    // not running: a preemptor's claim on what its victims free
  bool leaving = false;  // evicted, its job has not stopped yet
  friend bool operator==(const Holder&, const Holder&) = default;
};

// One (podset, flavor, resource); see FlavorFinding for what is empty when.
struct FlavorAnswer {
  FlavorFinding finding{};
  Amount available = 0;           // to the ClusterQueue now, borrowing included
  Amount most = 0;                // the most it could ever have
  Amount missing = 0;             // of `available`, for this podset and those before it; 0 when it fits
  bool exceeds = false;           // more than `most`: nobody's leaving helps
  std::vector<Holder> holders{};  // largest first
  std::int32_t more_holders = 0;  // left out of the list
  friend bool operator==(const FlavorAnswer&, const FlavorAnswer&) = default;
};

// Nodes for a podset if it got this flavor, quota aside.
struct NodesAnswer {
  std::string pod_set{};
  FlavorName flavor{};
  std::int32_t wanted = 0;
  std::int32_t placed = 0;
  std::string text{};
  friend bool operator==(const NodesAnswer&, const NodesAnswer&) = default;
};

struct Explanation {
  ObjectKey workload{};
  Standing standing = Standing::kUnknown;
  LocalQueueName local_queue{};
  ClusterQueueName cluster_queue{};  // empty: unknown
  std::int64_t priority = 0;
  std::string plugin{};   // that rejected it; empty: the framework
  std::string reason{};   // the condition reason, `WaitingForQuota`
  std::string message{};  // one sentence or more, true now
  std::vector<Cure> cures{};
  std::optional<ObjectKey> behind{};  // kBehind: the Workload at the head
  std::optional<Position> in_cluster_queue{};
  std::optional<Position> in_local_queue{};
  // Of a Workload that waits and has a ClusterQueue:
  std::string attempt{};  // what would come out if it were tried now, alone
  std::vector<FlavorAnswer> flavors{};
  std::vector<NodesAnswer> nodes{};
};

}  // namespace muster::framework
