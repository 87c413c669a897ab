// What happened to a Workload between two observations of it, for counters and histograms (spec/workloads.md §7.1).
// Seen in the objects, not in our own decisions: a write that fails is not counted, one that is repeated counts once.
// Pure.
#pragma once

#include "api/kueue/workload.h"
#include "base/ids.h"
#include "base/time.h"
#include "framework/events.h"
#include "framework/model/model.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::server {

enum class Change { kQuotaReserved, kAdmitted, kPodsReady, kEvicted, kPreempted, kFinished };

struct WorkloadChange {
  Change what{};
  std::string cluster_queue{};  // empty: it never had a reservation. kPreempted: the preemptor's
  ObjectKey local_queue{};
  std::string priority_class{};
  std::string reason{};                  // kEvicted, kPreempted
  std::string cause{};                   // kEvicted: underlying cause
  bool first_of_its_kind = false;        // kEvicted: no eviction of that reason and cause before
  Duration waited{};                     // since it was queued; kFinished: execution time, all admissions together
  std::optional<Duration> since_last{};  // kAdmitted: since the reservation, with checks; kPodsReady: since admission
  friend bool operator==(const WorkloadChange&, const WorkloadChange&) = default;
};

std::vector<WorkloadChange> changes(const api::Workload& before, const api::Workload& after);

// The same for an event that is about to be applied to the model.
std::vector<WorkloadChange> changes(const framework::Event& event, const framework::Model& model);

}  // namespace muster::server
