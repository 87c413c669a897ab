// Names on the wire that users and other programs match: labels, annotations, gates, finalizers, field managers
// (spec/api.md §8, spec/workloads.md §0). One place, spelled once.
#pragma once

#include <string_view>

namespace muster::api {

inline constexpr std::string_view kKueueGroup = "kueue.x-k8s.io";
inline constexpr std::string_view kSchedulerName = "muster";

inline constexpr char kQueueNameLabel[] = "kueue.x-k8s.io/queue-name";
inline constexpr char kPriorityClassLabel[] = "kueue.x-k8s.io/priority-class";
inline constexpr char kMaxExecTimeLabel[] = "kueue.x-k8s.io/max-exec-time-seconds";
inline constexpr char kPrebuiltWorkloadKey[] = "kueue.x-k8s.io/prebuilt-workload-name";  // annotation, else label
inline constexpr char kAdmissionGatedByAnnotation[] = "kueue.x-k8s.io/admission-gated-by";
inline constexpr char kJobUidLabel[] = "kueue.x-k8s.io/job-uid";
inline constexpr char kManagedLabel[] = "kueue.x-k8s.io/managed";
inline constexpr char kPodSetLabel[] = "kueue.x-k8s.io/podset";
inline constexpr char kClusterQueueLabel[] = "kueue.x-k8s.io/cluster-queue-name";
inline constexpr char kLocalQueueLabel[] = "kueue.x-k8s.io/local-queue-name";
inline constexpr char kWorkloadAnnotation[] = "kueue.x-k8s.io/workload";
inline constexpr char kStoppingAnnotation[] = "kueue.x-k8s.io/stopping";
inline constexpr char kPodGroupNameKey[] = "kueue.x-k8s.io/pod-group-name";
inline constexpr char kPodGroupTotalCountAnnotation[] = "kueue.x-k8s.io/pod-group-total-count";
inline constexpr char kAdmissionSchedulingGate[] = "kueue.x-k8s.io/admission";
inline constexpr char kResourceInUseFinalizer[] = "kueue.x-k8s.io/resource-in-use";
inline constexpr char kManagedFinalizer[] = "kueue.x-k8s.io/managed";
inline constexpr char kDefaultLocalQueue[] = "default";
inline constexpr char kDefaultPodSet[] = "main";
// Muster's own: declared run time and submit time of a Job in the simulator (Go durations).
inline constexpr char kRunTimeAnnotation[] = "muster.x-k8s.io/run-time";
inline constexpr char kSubmitTimeAnnotation[] = "muster.x-k8s.io/submit-time";

inline constexpr std::size_t kMaxConditionMessage = 32768;
inline constexpr std::size_t kMaxEventNote = 1024;

}  // namespace muster::api
