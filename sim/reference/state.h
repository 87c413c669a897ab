// What the reference knows of a world at one moment: who is where, and what each holds.
#pragma once

#include "sim/reference/quota.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim::reference {

enum class Place : std::uint8_t { kAbsent, kPending, kReserved, kOver };

struct PodSetAdmission {
  int count = 0;
  std::map<int, int> flavors{};  // by resource
  friend bool operator==(const PodSetAdmission&, const PodSetAdmission&) = default;
};

// How far the flavors were looked at (§3.4): by (podset, resource) the index of the last one; -1: all.
struct Progress {
  std::map<std::pair<int, int>, int> tried{};
  int epoch = 0;  // of the state; it is worth nothing in another one

  bool pending() const {
    return std::any_of(tried.begin(), tried.end(), [](const auto& entry) { return entry.second >= 0; });
  }
};

struct WorkloadNow {
  Place place = Place::kAbsent;
  // Reserved:
  std::vector<PodSetAdmission> admission{};
  Usage usage{};
  int reserved_at = 0;
  bool evicted = false;
  std::string preempted{};  // reason of the condition
  // Pending:
  std::optional<Usage> hold{};     // what its preemption will free, until it is admitted (decision 0006)
  bool waits_for_victims = false;  // it keeps the head of its queue
  bool sticky = false;             // it comes first in its queue since it preempted (§1.7)
  bool rejected = false;           // tried, and nothing that could cure it has happened since
  std::string reason{};            // of the last rejection
  std::string message{};
  std::optional<Progress> progress{};  // flavors are left that the last attempt did not look at
};

struct State {
  const World* world = nullptr;
  std::vector<WorkloadNow> workloads{};
  int now = 0;    // seconds
  int epoch = 0;  // +1 with everything that may cure a rejection

  const WorkloadDef& def(int workload) const { return world->workloads[static_cast<std::size_t>(workload)]; }

  const QueueDef& queue_of(int workload) const { return world->queues[static_cast<std::size_t>(def(workload).queue)]; }

  const WorkloadNow& at(int workload) const { return workloads[static_cast<std::size_t>(workload)]; }

  WorkloadNow& at(int workload) { return workloads[static_cast<std::size_t>(workload)]; }

  int count() const { return static_cast<int>(workloads.size()); }

  // Everything that counts now: reservations (also of the evicted, until they are gone) and holds.
  QuotaState quota() const {
    std::vector<Charge> charges;
    for (int i = 0; i < count(); ++i) {
      if (at(i).place == Place::kReserved) {
        charges.push_back({.queue = def(i).queue, .workload = i, .usage = at(i).usage});
      } else if (at(i).place == Place::kPending && at(i).hold) {
        charges.push_back({.queue = def(i).queue, .workload = i, .usage = *at(i).hold});
      }
    }
    return {*world, std::move(charges)};
  }
};

}  // namespace muster::sim::reference
