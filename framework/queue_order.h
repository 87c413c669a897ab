// Kueue's order within a ClusterQueue (spec/admission.md §1.2), for the QueueSort plugins that keep it.
#pragma once

#include "framework/workload_info.h"

namespace muster::framework {

// Earlier queue-order time, then smaller uid.
inline bool queued_earlier(const WorkloadInfo& a, const WorkloadInfo& b) {
  return a.queue_time != b.queue_time ? a.queue_time < b.queue_time : a.uid() < b.uid();
}

// Higher effective priority, then as above.
inline bool queued_before(const WorkloadInfo& a, const WorkloadInfo& b) {
  return a.priority != b.priority ? a.priority > b.priority : queued_earlier(a, b);
}

}  // namespace muster::framework
