// What the core wants done, as values with preconditions. The core has already assumed an effect when it hands it out;
// EffectFailed{id} undoes exactly that assumption. An executor keeps one write in flight an object, lets a newer effect
// of the same slot (merge_key) replace an older one that has not been sent, and reports back with events.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "api/core/pod.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"
#include "base/ids.h"
#include "base/time.h"
#include "framework/events.h"

namespace muster::framework {

// Kinds that effects and reconcilers name.
enum class Kind : std::uint8_t {
  kWorkload,
  kJob,
  kPod,
  kClusterQueue,
  kLocalQueue,
  kResourceFlavor,
  kCohort,
  kNode,
  kNamespace,
  kWorkloadPriorityClass,
};

std::string_view to_string(Kind kind);  // the Kubernetes kind, `ClusterQueue`

struct ObjectRef {
  Kind kind = Kind::kWorkload;
  ObjectKey key{};
  Uid uid{};
  friend auto operator<=>(const ObjectRef&, const ObjectRef&) = default;
  friend bool operator==(const ObjectRef&, const ObjectRef&) = default;
};

// Also carried by effects as `event`: told once their write was really made (ProgramDone::events).
struct EmitEvent {
  ObjectRef regarding{};
  bool warning = false;
  std::string reason{};
  std::string action{};
  std::string note{};
  friend bool operator==(const EmitEvent&, const EmitEvent&) = default;
};

// What one podset's pods get when their job starts (spec/workloads.md §1.6).
struct PodSetInfo {
  std::string name{};
  std::int32_t count = 0;
  api::StringMap labels{};
  api::StringMap annotations{};
  api::StringMap node_selector{};
  std::vector<api::Toleration> tolerations{};
  friend bool operator==(const PodSetInfo&, const PodSetInfo&) = default;
};

// Create the Workload of a job from the job as it stands at that moment (its template is read then).
struct CreateWorkload {
  ObjectRef job{};
  std::string name{};  // of the Workload
  std::optional<api::PriorityClassRef> priority_class{};
  std::int32_t priority = 0;
  std::optional<EmitEvent> event{};
  friend bool operator==(const CreateWorkload&, const CreateWorkload&) = default;
};

// Make the job the controller of a Workload that it names as its prebuilt one and that nobody controls.
struct AdoptWorkload {
  ObjectRef workload{};
  ObjectRef job{};
  friend bool operator==(const AdoptWorkload&, const AdoptWorkload&) = default;
};

// Rewrite podsets (and queue, priority) of a pending Workload that no longer matches its suspended job.
struct RewriteWorkload {
  ObjectRef workload{};
  ObjectRef job{};
  std::optional<api::PriorityClassRef> priority_class{};
  std::int32_t priority = 0;
  std::optional<EmitEvent> event{};
  friend bool operator==(const RewriteWorkload&, const RewriteWorkload&) = default;
};

// Merge-patch of single spec fields; absent fields stay.
struct PatchWorkloadSpec {
  ObjectRef workload{};
  std::optional<LocalQueueName> queue_name{};
  std::optional<bool> active{};
  std::optional<api::PriorityClassRef> priority_class{};
  std::optional<std::int32_t> priority{};
  std::optional<std::string> admission_gated_by{};  // annotation; empty removes it
  std::optional<EmitEvent> event{};
  friend bool operator==(const PatchWorkloadSpec&, const PatchWorkloadSpec&) = default;
};

// The whole status Muster owns, applied server-side (field manager kueue-admission, forced).
struct PatchWorkloadStatus {
  ObjectRef workload{};
  std::string resource_version{};  // precondition; the state this status was computed from
  api::WorkloadStatus status{};
  std::vector<EmitEvent> events{};
  friend bool operator==(const PatchWorkloadStatus&, const PatchWorkloadStatus&) = default;
};

struct PatchClusterQueueStatus {
  ObjectRef queue{};
  api::ClusterQueueStatus status{};
  friend bool operator==(const PatchClusterQueueStatus&, const PatchClusterQueueStatus&) = default;
};

struct PatchLocalQueueStatus {
  ObjectRef queue{};
  api::LocalQueueStatus status{};
  friend bool operator==(const PatchLocalQueueStatus&, const PatchLocalQueueStatus&) = default;
};

struct PatchCohortStatus {
  ObjectRef cohort{};
  api::CohortStatus status{};
  friend bool operator==(const PatchCohortStatus&, const PatchCohortStatus&) = default;
};

enum class FinalizerChange : std::uint8_t { kAdd, kRemove };

struct ChangeFinalizer {
  ObjectRef object{};
  std::string finalizer{};
  FinalizerChange change = FinalizerChange::kAdd;
  friend bool operator==(const ChangeFinalizer&, const ChangeFinalizer&) = default;
};

struct DeleteObject {
  ObjectRef object{};
  std::optional<EmitEvent> event{};
  friend bool operator==(const DeleteObject&, const DeleteObject&) = default;
};

// Unsuspend and inject the podset infos, in one patch. Waits for the Job's `Suspended` condition where the API server
// demands it (cluster.md): the reconciler issues it only then.
struct StartJob {
  ObjectRef job{};
  std::vector<PodSetInfo> pod_sets{};
  std::optional<EmitEvent> event{};
  friend bool operator==(const StartJob&, const StartJob&) = default;
};

// Suspend and restore the templates from the Workload as it stands at that moment; without one, only suspend.
struct StopJob {
  ObjectRef job{};
  std::optional<ObjectRef> workload{};
  std::string reason{};  // StoppedReason of spec/workloads.md §1.7
  std::string message{};
  std::optional<EmitEvent> event{};
  friend bool operator==(const StopJob&, const StopJob&) = default;
};

// Remove a scheduling gate of a plain pod and inject its podset info.
struct UngatePod {
  ObjectRef pod{};
  std::string gate{};
  PodSetInfo info{};
  std::optional<EmitEvent> event{};
  friend bool operator==(const UngatePod&, const UngatePod&) = default;
};

struct BindPod {
  ObjectRef pod{};
  NodeName node{};
  ObjectKey workload{};
  friend bool operator==(const BindPod&, const BindPod&) = default;
};

// A condition on a pod's status: PodScheduled=False with the gang's reason, TerminationTarget, …
struct PatchPodCondition {
  ObjectRef pod{};
  api::Condition condition{};
  friend bool operator==(const PatchPodCondition&, const PatchPodCondition&) = default;
};

using EffectBody = std::variant<CreateWorkload, AdoptWorkload, RewriteWorkload, PatchWorkloadSpec, PatchWorkloadStatus,
                                PatchClusterQueueStatus, PatchLocalQueueStatus, PatchCohortStatus, ChangeFinalizer,
                                DeleteObject, StartJob, StopJob, UngatePod, BindPod, PatchPodCondition, EmitEvent>;

struct Effect {
  EffectId id = 0;
  EffectBody body{};
  friend bool operator==(const Effect&, const Effect&) = default;
};

using Effects = std::vector<Effect>;

// The object whose writes must not overlap, and the slot in which a newer effect replaces an older unsent one: the
// effect's type and object. EmitEvent has no slot (empty string): it never merges and may be dropped under load.
ObjectRef target(const Effect& effect);
std::string merge_key(const Effect& effect);
// One line for logs, traces and golden files: `PatchWorkloadStatus default/job-a-1f2e3 QuotaReserved=True Admitted=True`.
std::string describe(const Effect& effect);

}  // namespace muster::framework
