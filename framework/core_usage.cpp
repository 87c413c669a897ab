// Admission fair sharing: which LocalQueues have a history, and what the Workloads tell of it.
#include "api/constants.h"
#include "framework/core.h"
#include "framework/model/hash.h"

namespace muster::framework {

namespace {

NanoAmounts by_resource(const std::optional<Charge>& charge) {
  NanoAmounts amounts;
  if (charge) {
    for (const auto& [fr, amount] : charge->usage) {
      Nano& sum = amounts[fr.resource];
      sum = clamp_nano(sum + to_nano(fr.resource, amount));
    }
  }
  return amounts;
}

NanoAmounts by_resource(const api::Admission& admission) {
  NanoAmounts amounts;
  for (const api::PodSetAssignment& pod_set : admission.pod_set_assignments) {
    for (const auto& [resource, amount] : pod_set.resource_usage) {
      Nano& sum = amounts[resource];
      sum = clamp_nano(sum + to_nano(resource, amount));
    }
  }
  return amounts;
}

std::optional<TimePoint> since_when(const api::Conditions& conditions, std::string_view type) {
  const api::Condition* condition = api::find_condition(conditions, type);
  return condition != nullptr && condition->status == api::ConditionStatus::kTrue
             ? std::optional(condition->last_transition_time)
             : std::nullopt;
}

UsageFacts usage_facts(const WorkloadState& state) {
  const api::Workload& workload = *state.observed;
  const std::optional<Charge> stored = Model::charge_of(workload, workload.status);
  const std::optional<Charge> assumed = Model::charge_of(workload, state.status);
  UsageFacts facts{.uid = workload.meta.uid, .local_queue = {workload.meta.ns, workload.queue_name.str()}};
  facts.reserved = stored || assumed;
  facts.finished_at = since_when(workload.status.conditions, api::kFinished);
  facts.may_return = workload.active && !facts.finished_at;
  if (facts.reserved) {
    facts.requests = by_resource(assumed ? *state.status.admission : *workload.status.admission);
  }
  if (stored) {
    facts.admitted_at = since_when(workload.status.conditions, api::kAdmitted);
    facts.admitted = by_resource(stored);
  }
  if (assumed && !facts.admitted_at) {
    facts.decided_at = since_when(state.status.conditions, api::kAdmitted);
  }
  return facts;
}

// Of one that finished: as if it had not yet.
std::optional<UsageFacts> past_facts(const api::Workload& workload) {
  const std::optional<TimePoint> finished_at = since_when(workload.status.conditions, api::kFinished);
  if (!finished_at || !workload.status.admission) {
    return std::nullopt;
  }
  api::WorkloadStatus running = workload.status;
  api::remove_condition(running.conditions, api::kFinished);
  return UsageFacts{.uid = workload.meta.uid,
                    .local_queue = {workload.meta.ns, workload.queue_name.str()},
                    .requests = by_resource(*running.admission),
                    .admitted_at = since_when(running.conditions, api::kAdmitted),
                    .admitted = by_resource(Model::charge_of(workload, running)),
                    .finished_at = finished_at};
}

}  // namespace

// Those that have ended are closed in refresh_usage: until then queued Workloads may point to their place.
void Core::open_usage(TimePoint now) {
  std::set<ObjectKey> batch;
  batch.swap(usage_dirty_);
  if (!model_.usage().enabled()) {
    return;
  }
  for (const ObjectKey& key : batch) {
    const auto* local = model_.objects().find<api::LocalQueue>(key);
    const auto* queue =
        local == nullptr ? nullptr : model_.objects().find<api::ClusterQueue>({{}, local->cluster_queue.str()});
    if (queue == nullptr || !queue->usage_based_fair_sharing) {
      usage_leaving_.insert(key);
      continue;
    }
    usage_leaving_.erase(key);
    if (model_.usage().open(now, *local)) {
      for (const ObjectKey& workload : model_.objects().workloads_in(key)) {
        if (const auto past = past_facts(*model_.workload(workload)->observed)) {
          model_.usage().note_past(now, *past);
        }
      }
    }
  }
}

void Core::note_usage(TimePoint now, const ObjectKey& workload) {
  if (!model_.usage().enabled()) {
    return;
  }
  const WorkloadState* state = model_.workload(workload);
  model_.usage().note(now, workload, state == nullptr ? std::nullopt : std::optional(usage_facts(*state)));
}

void Core::refresh_usage(TimePoint now) {
  if (!model_.usage().enabled()) {
    return;
  }
  for (const ObjectKey& key : usage_leaving_) {
    model_.usage().close(key);
  }
  usage_leaving_.clear();
  std::set<ClusterQueueName> queues;
  for (const ObjectKey& key : model_.usage().refresh(now)) {
    if (const auto* local = model_.objects().find<api::LocalQueue>(key)) {
      queues.insert(local->cluster_queue);
    }
  }
  for (const ClusterQueueName& queue : queues) {
    queue_.place_changed(queue);
  }
}

// Those of one class share a LocalQueue then, and with it a place.
void Core::take_usage_place(WorkloadInfo& workload) const {
  const ObjectKey local{workload.key.ns, workload.object->queue_name.str()};
  workload.queue_place = usage_leaving_.count(local) > 0 ? nullptr : model_.usage().place(local);
  if (workload.queue_place != nullptr) {
    workload.class_id = Hash().add(static_cast<Amount>(workload.class_id)).add(local.ns).add(local.name).value();
  }
}

}  // namespace muster::framework
