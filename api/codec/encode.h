// Value types -> wire JSON (v1beta2 for Muster's kinds). Absent and empty optional members are left out, quantities and
// times are printed as the API server prints them. Whole objects carry apiVersion and kind; a pod spec comes back as
// reduced as it is held (no image, env, args): whole objects are for tests and the simulator, parts for patches.
// decode(encode(x)) == x, but for the container hashes and the list of unsupported fields.
#pragma once

#include "api/batch/job.h"
#include "api/codec/json.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"

#include <vector>

namespace muster::api {

// Parts, as they stand in a status or a spec.
Json encode(const ObjectMeta& meta);
Json encode(const Conditions& conditions);
Json encode(const Condition& condition);
Json encode(const std::vector<Toleration>& tolerations);
Json encode(const std::vector<Taint>& taints);
Json encode(const LabelSelector& selector);
Json encode(const PodSpec& spec);
Json encode(const PodTemplate& pod_template);
Json encode(const Admission& admission);
// The status objects, complete: what a server-side apply of Muster's own fields sends.
Json encode(const WorkloadStatus& status);
Json encode(const ClusterQueueStatus& status);
Json encode(const LocalQueueStatus& status);
Json encode(const CohortStatus& status);

// {resource: quantity}. An amount beyond every quantity (kUnlimited) is printed as its number, never `<unlimited>`.
Json encode_amounts(const ResourceAmounts& amounts);
std::string encode_amount(std::string_view resource, Amount amount);

// Whole objects.
Json encode(const ResourceFlavor& flavor);
Json encode(const ClusterQueue& queue);
Json encode(const Cohort& cohort);
Json encode(const LocalQueue& queue);
Json encode(const Workload& workload);
Json encode(const WorkloadPriorityClass& priority_class);
Json encode(const Job& job);
Json encode(const Pod& pod);
Json encode(const Node& node);
Json encode(const Namespace& ns);
Json encode(const PriorityClass& priority_class);
Json encode(const RuntimeClass& runtime_class);
Json encode(const LimitRange& range);

// Merge patch that turns the status `before` into `after`: only members that differ, null where one is gone, lists
// whole. An empty object when nothing differs.
Json status_merge_patch(const WorkloadStatus& before, const WorkloadStatus& after);

}  // namespace muster::api
