// May a ClusterQueue admit? The reading behind its `Active` condition (spec/admission.md §2.7), used by the scheduling
// cycle, the queue statuses and the workload reconciler. Pure; decision thread (reads the Model).
#pragma once

#include "base/ids.h"
#include "framework/model/model.h"

#include <string>

namespace muster::framework {

struct Activity {
  bool active = false;
  std::string reason{};   // of the condition Active
  std::string message{};  // exact text
  friend bool operator==(const Activity&, const Activity&) = default;
};

// What the condition says. A ClusterQueue under a cycle of Cohorts is not active and says `Unknown`.
// What this build lacks keeps a queue inactive instead of being ignored: AdmissionChecks count as missing, and so does
// the Topology that a flavor names.
Activity cluster_queue_activity(const Model& model, const ClusterQueueName& queue);

inline bool is_active(const Model& model, const ClusterQueueName& queue) {
  return cluster_queue_activity(model, queue).active;
}

}  // namespace muster::framework
