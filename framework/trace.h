// What a settle did and why, as values: shells log it, tests and the simulator compare it, `muster explain` prints it.
#pragma once

#include <string>
#include <vector>

#include "base/ids.h"
#include "framework/verdict.h"

namespace muster::framework {

enum class Outcome : std::uint8_t {
  kAdmitted,    // quota (and nodes, where wanted) charged
  kPreempting,  // victims chosen, hold taken
  kSkipped,     // would fit, but another entry of the cycle took the room
  kParked,      // rejected; sleeps until one of its wakes
  kGated,       // may not queue (PreEnqueue)
  kBound,       // pods handed to nodes
  kEvicted,     // whole, by Permit or Bind
};

std::string_view to_string(Outcome outcome);

struct TraceEntry {
  std::uint64_t cycle = 0;
  ObjectKey workload{};
  ClusterQueueName cluster_queue{};
  Outcome outcome = Outcome::kParked;
  std::string plugin{};   // that decided, empty: the framework
  std::string reason{};
  std::string message{};
  std::vector<Wake> wakes{};
  friend bool operator==(const TraceEntry&, const TraceEntry&) = default;
};

using Trace = std::vector<TraceEntry>;

}  // namespace muster::framework
