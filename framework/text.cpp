#include <fmt/format.h>

#include "framework/effects.h"
#include "framework/trace.h"
#include "framework/verdict.h"
#include "framework/wake.h"

namespace muster::framework {

std::string_view to_string(Code code) {
  switch (code) {
    case Code::kSuccess:
      return "Success";
    case Code::kError:
      return "Error";
    case Code::kUnschedulable:
      return "Unschedulable";
    case Code::kUnschedulableAndUnresolvable:
      return "UnschedulableAndUnresolvable";
    case Code::kWait:
      return "Wait";
    case Code::kSkip:
      return "Skip";
    case Code::kPending:
      return "Pending";
  }
  return "Error";
}

std::string_view to_string(WakeKind kind) {
  switch (kind) {
    case WakeKind::kQuota:
      return "Quota";
    case WakeKind::kClusterQueue:
      return "ClusterQueue";
    case WakeKind::kLocalQueue:
      return "LocalQueue";
    case WakeKind::kFlavor:
      return "ResourceFlavor";
    case WakeKind::kNamespace:
      return "Namespace";
    case WakeKind::kNodes:
      return "Nodes";
    case WakeKind::kPods:
      return "Pods";
    case WakeKind::kWorkload:
      return "Workload";
    case WakeKind::kCheck:
      return "AdmissionCheck";
    case WakeKind::kTime:
      return "Time";
  }
  return "Workload";
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::kWorkload:
      return "Workload";
    case Kind::kJob:
      return "Job";
    case Kind::kPod:
      return "Pod";
    case Kind::kClusterQueue:
      return "ClusterQueue";
    case Kind::kLocalQueue:
      return "LocalQueue";
    case Kind::kResourceFlavor:
      return "ResourceFlavor";
    case Kind::kCohort:
      return "Cohort";
    case Kind::kNode:
      return "Node";
    case Kind::kNamespace:
      return "Namespace";
    case Kind::kWorkloadPriorityClass:
      return "WorkloadPriorityClass";
  }
  return "Workload";
}

std::string_view to_string(Outcome outcome) {
  switch (outcome) {
    case Outcome::kAdmitted:
      return "Admitted";
    case Outcome::kPreempting:
      return "Preempting";
    case Outcome::kSkipped:
      return "Skipped";
    case Outcome::kParked:
      return "Parked";
    case Outcome::kGated:
      return "Gated";
    case Outcome::kBound:
      return "Bound";
    case Outcome::kEvicted:
      return "Evicted";
  }
  return "Parked";
}

namespace {

// The name, the object and the detail of each effect; one place that knows them all.
struct Described {
  std::string_view name{};
  ObjectRef target{};
  std::string detail{};
  bool merges = true;
  std::string slot{};  // tells apart what may be written of one object side by side
};

std::string conditions_of(const api::WorkloadStatus& status) {
  std::string text;
  for (const api::Condition& condition : status.conditions) {
    const char* value = condition.status == api::ConditionStatus::kTrue ? "True" : "False";
    text += fmt::format(" {}={}({})", condition.type, value, condition.reason);
  }
  return text;
}

struct Describe {
  Described operator()(const CreateWorkload& e) const { return {"CreateWorkload", e.job, " " + e.name}; }
  Described operator()(const AdoptWorkload& e) const { return {"AdoptWorkload", e.workload, " by " + to_string(e.job.key)}; }
  Described operator()(const RewriteWorkload& e) const { return {"RewriteWorkload", e.workload}; }
  Described operator()(const PatchWorkloadSpec& e) const {
    const char* field = e.active ? "active" : e.queue_name ? "queueName" : e.priority ? "priority" : "annotations";
    return {"PatchWorkloadSpec", e.workload, e.active ? (*e.active ? " active=true" : " active=false") : "", true, field};
  }
  Described operator()(const PatchWorkloadStatus& e) const {
    return {"PatchWorkloadStatus", e.workload, conditions_of(e.status)};
  }
  Described operator()(const PatchClusterQueueStatus& e) const { return {"PatchClusterQueueStatus", e.queue}; }
  Described operator()(const PatchLocalQueueStatus& e) const { return {"PatchLocalQueueStatus", e.queue}; }
  Described operator()(const PatchCohortStatus& e) const { return {"PatchCohortStatus", e.cohort}; }
  Described operator()(const ChangeFinalizer& e) const {
    return {e.change == FinalizerChange::kAdd ? "AddFinalizer" : "RemoveFinalizer", e.object, " " + e.finalizer, true,
            e.finalizer};
  }
  Described operator()(const DeleteObject& e) const { return {"DeleteObject", e.object}; }
  Described operator()(const StartJob& e) const { return {"StartJob", e.job}; }
  Described operator()(const StopJob& e) const { return {"StopJob", e.job, " " + e.reason}; }
  Described operator()(const UngatePod& e) const { return {"UngatePod", e.pod, " " + e.gate, true, e.gate}; }
  Described operator()(const BindPod& e) const { return {"BindPod", e.pod, " to " + e.node.str()}; }
  Described operator()(const PatchPodCondition& e) const {
    return {"PatchPodCondition", e.pod, fmt::format(" {}({})", e.condition.type, e.condition.reason), true,
            e.condition.type};
  }
  Described operator()(const EmitEvent& e) const {
    return {"EmitEvent", e.regarding, fmt::format(" {} {}", e.reason, e.note), false};
  }
};

}  // namespace

ObjectRef target(const Effect& effect) { return std::visit(Describe{}, effect.body).target; }

std::string merge_key(const Effect& effect) {
  const Described d = std::visit(Describe{}, effect.body);
  return d.merges ? fmt::format("{} {} {} {} {}", d.name, to_string(d.target.kind), to_string(d.target.key),
                                d.target.uid.str(), d.slot)
                  : std::string{};
}

std::string describe(const Effect& effect) {
  const Described d = std::visit(Describe{}, effect.body);
  return fmt::format("{} {} {}{}", d.name, to_string(d.target.kind), to_string(d.target.key), d.detail);
}

}  // namespace muster::framework
