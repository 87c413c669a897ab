#include "controllers/jobs/plain_pod.h"

#include "api/constants.h"
#include "base/check.h"

#include <algorithm>
#include <utility>

namespace muster::controllers {
namespace {

constexpr char kSuspendingParentAnnotation[] = "kueue.x-k8s.io/pod-suspending-parent";
constexpr JobKindDescription kDescription{
    .kind = framework::Kind::kPod, .framework = "pod", .group = "", .version = "v1", .name = "Pod"};

bool is_single_managed_pod(const api::ObjectMeta& meta) {
  const std::string* managed = api::find(meta.labels, api::kManagedLabel);
  return managed != nullptr && *managed == "true" && api::find(meta.labels, api::kPodGroupNameKey) == nullptr &&
         api::find(meta.annotations, api::kPodGroupNameKey) == nullptr &&
         api::find(meta.annotations, kSuspendingParentAnnotation) == nullptr;
}

bool is_gated(const api::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return std::find(gates.begin(), gates.end(), api::kAdmissionSchedulingGate) != gates.end();
}

std::string termination_reason(const StopRequest& request) {
  std::string reason(request.reason);
  if (request.reason == kStopWorkloadEvicted) {
    reason += "DueTo" + request.cause;
  }
  return reason;
}

}  // namespace

const JobKindDescription& PlainPodKind::description() const {
  return kDescription;
}

std::optional<JobView> PlainPodKind::read(const ObjectKey& key, const framework::Model& model) const {
  const api::Pod* pod = model.objects().find<api::Pod>(key);
  if (pod == nullptr || !is_single_managed_pod(pod->meta)) {
    return std::nullopt;
  }
  const bool terminal = api::is_terminal(*pod);
  JobView view{.ref = {.kind = framework::Kind::kPod, .key = key, .uid = pod->meta.uid}, .meta = &pod->meta};
  view.pod_sets.push_back(
      {.name = api::kDefaultPodSet,
       .count = 1,
       .pod_template = {.labels = pod->meta.labels, .annotations = pod->meta.annotations, .spec = pod->spec}});
  view.suspended = terminal || is_gated(*pod);
  view.may_release = true;  // a stopped pod is deleted and never comes back: Kueue counts it as gone at once
  view.needs_stop = !view.suspended && !pod->meta.deletion_timestamp;
  view.pods_ready = api::is_true(pod->conditions, "Ready");
  if (terminal) {
    view.outcome = JobOutcome{.succeeded = pod->phase == "Succeeded"};
  }
  return view;
}

framework::EffectBody PlainPodKind::start(const JobView& job, std::vector<framework::PodSetInfo> pod_sets,
                                          framework::EmitEvent event) const {
  MUSTER_CHECK(pod_sets.size() == 1) << "a pod has one podset";
  return framework::UngatePod{.pod = job.ref,
                              .gate = api::kAdmissionSchedulingGate,
                              .info = std::move(pod_sets.front()),
                              .event = std::move(event)};
}

std::vector<framework::EffectBody> PlainPodKind::stop(const JobView& job, const StopRequest& request) const {
  const bool left_alone = job.suspended && request.reason != kStopWorkloadDeleted;
  if (left_alone || job.deleting()) {
    return {};
  }
  return {framework::PatchPodCondition{.pod = job.ref,
                                       .condition = {.type = "TerminationTarget",
                                                     .status = api::ConditionStatus::kTrue,
                                                     .reason = termination_reason(request),
                                                     .message = request.message,
                                                     .last_transition_time = to_seconds(request.now)}},
          framework::DeleteObject{.object = job.ref, .event = job_event(job, request.event, request.message)}};
}

std::vector<framework::EffectBody> PlainPodKind::finalize(const JobView& job) const {
  if (!api::has_finalizer(*job.meta, api::kManagedFinalizer)) {
    return {};
  }
  return {framework::ChangeFinalizer{
      .object = job.ref, .finalizer = api::kManagedFinalizer, .change = framework::FinalizerChange::kRemove}};
}

}  // namespace muster::controllers
