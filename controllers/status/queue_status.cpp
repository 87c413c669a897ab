#include "controllers/status/queue_status.h"

#include "api/constants.h"
#include "controllers/status/usage_report.h"
#include "framework/model/fair_share.h"
#include "framework/status/cluster_queue_active.h"

#include <algorithm>
#include <string>
#include <utility>

namespace muster::controllers {
namespace {

using framework::Kind;
using framework::ObjectRef;
using framework::ReconcileContext;
using framework::ReconcileResult;

enum class InUse { kNo, kYes };

ObjectRef ref_of(Kind kind, const api::ObjectMeta& meta) {
  return {.kind = kind, .key = meta.key(), .uid = meta.uid};
}

// resource-in-use: there from the beginning, gone when the object is being deleted and nothing uses it.
void keep_finalizer(Kind kind, const api::ObjectMeta& meta, InUse in_use, ReconcileResult& result) {
  const bool present = api::has_finalizer(meta, api::kResourceInUseFinalizer);
  const bool deleting = meta.deletion_timestamp.has_value();
  if (!deleting && !present) {
    result.effects.emplace_back(framework::ChangeFinalizer{.object = ref_of(kind, meta),
                                                           .finalizer = api::kResourceInUseFinalizer,
                                                           .change = framework::FinalizerChange::kAdd});
  } else if (deleting && present && in_use == InUse::kNo) {
    result.effects.emplace_back(framework::ChangeFinalizer{.object = ref_of(kind, meta),
                                                           .finalizer = api::kResourceInUseFinalizer,
                                                           .change = framework::FinalizerChange::kRemove});
  }
}

bool uses(const api::ClusterQueue& queue, const std::string& flavor) {
  return std::any_of(queue.resource_groups.begin(), queue.resource_groups.end(), [&](const api::ResourceGroup& group) {
    return std::any_of(group.flavors.begin(), group.flavors.end(),
                       [&](const api::FlavorQuotas& quotas) { return quotas.name.str() == flavor; });
  });
}

void settle_flavor(const api::ResourceFlavor& flavor, const framework::Objects& objects, ReconcileResult& result) {
  const auto& queues = objects.all<api::ClusterQueue>().all();
  const bool used = std::any_of(queues.begin(), queues.end(),
                                [&](const auto& entry) { return uses(*entry.second, flavor.meta.name); });
  keep_finalizer(Kind::kResourceFlavor, flavor.meta, used ? InUse::kYes : InUse::kNo, result);
}

void set_active(api::Conditions& conditions, const framework::Activity& activity, std::int64_t generation,
                TimePoint now) {
  api::set_condition(conditions,
                     {.type = "Active",
                      .status = activity.active ? api::ConditionStatus::kTrue : api::ConditionStatus::kFalse,
                      .reason = activity.reason,
                      .message = activity.message,
                      .last_transition_time = to_seconds(now),
                      .observed_generation = generation});
}

// spec/api.md §6.3.
framework::Activity activity_of(const api::LocalQueue& queue, const framework::Model& model) {
  constexpr const char* kCannot = "Can't submit new workloads to clusterQueue";
  if (queue.stop_policy != api::StopPolicy::kNone) {
    return {.reason = "Stopped", .message = "LocalQueue is stopped"};
  }
  if (model.objects().all<api::ClusterQueue>().find(queue.cluster_queue.str()) == nullptr) {
    return {.reason = "ClusterQueueDoesNotExist", .message = kCannot};
  }
  if (!framework::is_active(model, queue.cluster_queue)) {
    return {.reason = "ClusterQueueIsInactive", .message = kCannot};
  }
  return {.active = true, .reason = "Ready", .message = "Can submit new workloads to localQueue"};
}

template <class Name>
std::optional<std::int64_t> weighted_share_of(const framework::QuotaTree& quota, const Name& name) {
  const auto node = quota.find(name);
  return node ? std::optional(weighted_share(share_of(quota, *node))) : std::nullopt;
}

// What was consumed (spec/admission.md §6.1): in every write that is made anyway, else once a sampling interval and only
// when it has changed. Precondition: the rest of the status is set.
void report_consumption(const api::LocalQueue& queue, const ReconcileContext& context, api::LocalQueueStatus& status,
                        ReconcileResult& result) {
  const framework::LocalQueueUsage& usage = context.model.usage();
  const ObjectKey key = queue.meta.key();
  auto fresh = usage.published(key, context.now);
  if (!fresh) {
    if (context.model.objects().all<api::ClusterQueue>().find(queue.cluster_queue.str()) != nullptr) {
      status.admission_fair_sharing.reset();  // else it may come back, with this history
    }
    return;
  }
  const auto& stored = queue.status.admission_fair_sharing;
  const TimePoint due = stored ? std::min(stored->last_update, context.now) + usage.sampling() : context.now;
  const bool changed = !stored || stored->consumed_resources != fresh->consumed_resources;
  if (changed || usage.is_moving(key, context.now)) {
    result.requeue_at(due > context.now ? due : context.now + usage.sampling());
  }
  const bool written_anyway = !(status == queue.status);
  if (written_anyway || (changed && due <= context.now)) {
    status.admission_fair_sharing = std::move(fresh);
  }
}

}  // namespace

void ClusterQueueReconciler::reconcile(const ObjectKey& key, const ReconcileContext& context,
                                       ReconcileResult& result) const {
  const framework::Model& model = context.model;
  for (const auto& [name, flavor] : model.objects().all<api::ResourceFlavor>().all()) {
    if (flavor->meta.deletion_timestamp) {
      settle_flavor(*flavor, model.objects(), result);
    }
  }
  const auto* queue = model.objects().find<api::ClusterQueue>(key);
  if (queue == nullptr) {
    return;
  }
  const ClusterQueueName name(key.name);
  const UsageReport usage = usage_of(model, name);
  keep_finalizer(Kind::kClusterQueue, queue->meta, usage.reserving > 0 ? InUse::kYes : InUse::kNo, result);
  api::ClusterQueueStatus status = queue->status;
  status.flavors_reservation = flavor_usages(*queue, usage.reserved_usage, model.quota(), Borrowed::kReport);
  status.flavors_usage = flavor_usages(*queue, usage.admitted_usage, model.quota(), Borrowed::kReport);
  status.pending_workloads = context.queue.pending(name).total();
  status.reserving_workloads = usage.reserving;
  status.admitted_workloads = usage.admitted;
  status.weighted_share = shares_ == WeightedShares::kShow ? weighted_share_of(model.quota(), name) : std::nullopt;
  set_active(status.conditions, framework::cluster_queue_activity(model, name), queue->meta.generation, context.now);
  if (status != queue->status) {
    result.effects.emplace_back(framework::PatchClusterQueueStatus{.queue = ref_of(Kind::kClusterQueue, queue->meta),
                                                                   .status = std::move(status)});
  }
}

void CohortReconciler::reconcile(const ObjectKey& key, const ReconcileContext& context, ReconcileResult& result) const {
  const auto* cohort = context.model.objects().find<api::Cohort>(key);
  if (cohort == nullptr || cohort->meta.deletion_timestamp) {
    return;
  }
  const api::CohortStatus status{.weighted_share = weighted_share_of(context.model.quota(), CohortName(key.name))};
  if (status != cohort->status) {
    result.effects.emplace_back(
        framework::PatchCohortStatus{.cohort = ref_of(Kind::kCohort, cohort->meta), .status = status});
  }
}

void LocalQueueReconciler::reconcile(const ObjectKey& key, const ReconcileContext& context,
                                     ReconcileResult& result) const {
  const framework::Model& model = context.model;
  const auto* queue = model.objects().find<api::LocalQueue>(key);
  if (queue == nullptr || queue->meta.deletion_timestamp) {
    return;
  }
  api::LocalQueueStatus status = queue->status;
  status.flavors_reservation.clear();
  status.flavors_usage.clear();
  const UsageReport usage = usage_of(model, queue->cluster_queue, &key);
  if (const auto* cluster_queue = model.objects().all<api::ClusterQueue>().find(queue->cluster_queue.str())) {
    status.flavors_reservation = flavor_usages(*cluster_queue, usage.reserved_usage, model.quota(), Borrowed::kOmit);
    status.flavors_usage = flavor_usages(*cluster_queue, usage.admitted_usage, model.quota(), Borrowed::kOmit);
  }
  const bool stopped = queue->stop_policy != api::StopPolicy::kNone;
  status.pending_workloads = stopped ? 0 : context.queue.pending_in(key).total();
  status.reserving_workloads = usage.reserving;
  status.admitted_workloads = usage.admitted;
  set_active(status.conditions, activity_of(*queue, model), queue->meta.generation, context.now);
  report_consumption(*queue, context, status, result);
  if (status != queue->status) {
    result.effects.emplace_back(
        framework::PatchLocalQueueStatus{.queue = ref_of(Kind::kLocalQueue, queue->meta), .status = std::move(status)});
  }
}

void ResourceFlavorReconciler::reconcile(const ObjectKey& key, const ReconcileContext& context,
                                         ReconcileResult& result) const {
  if (const auto* flavor = context.model.objects().find<api::ResourceFlavor>(key)) {
    settle_flavor(*flavor, context.model.objects(), result);
  }
}

}  // namespace muster::controllers
