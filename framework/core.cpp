#include "framework/core.h"

#include <algorithm>
#include <utility>

#include "framework/status/cluster_queue_active.h"
#include "framework/status/workload_conditions.h"

namespace muster::framework {

namespace {

// Reconcilers that answer each other's answers for ever are a bug; this many rounds are far more than any chain needs.
constexpr int kMaxRounds = 64;

// Written after the decisions of a settle, and not too often.
bool reports_usage(Kind kind) {
  return kind == Kind::kClusterQueue || kind == Kind::kLocalQueue || kind == Kind::kCohort;
}

}  // namespace

Core::Core(CoreOptions options, Profile profile, std::vector<std::unique_ptr<Reconciler>> reconcilers)
    : options_(std::move(options)),
      profile_(std::move(profile)),
      reconcilers_(std::move(reconcilers)),
      queue_(*profile_.queue_sort.front().plugin),
      cycle_(profile_, options_.cycle) {
  if (options_.admission_fair_sharing) {
    model_.usage().configure(*options_.admission_fair_sharing);
  }
}

void Core::apply(TimePoint now, const Event& event) {
  if (const auto* object = std::get_if<ObjectEvent>(&event)) {
    apply_object(*object);
  } else if (std::holds_alternative<Synced>(event)) {
    synced_ = true;
  } else if (const auto* done = std::get_if<EffectDone>(&event)) {
    on_done(now, *done);
  } else if (const auto* failed = std::get_if<EffectFailed>(&event)) {
    on_failed(now, *failed);
  }
}

Output Core::settle(TimePoint now) {
  Output out;
  if (!synced_) {
    return out;
  }
  if (!deciding_) {
    deciding_ = true;
    touch_everything();
  }
  collect_due(now);
  for (EmitEvent& notice : std::exchange(notices_, {})) {
    emit(now, std::move(notice), out);
  }
  bool busy = true;
  for (int round = 0; busy && round < kMaxRounds; ++round) {
    refresh_cluster_queues();
    open_usage(now);
    busy = reconcile_dirty(now, out);  // objects say what they need
    refresh_places(now, out);          // Workloads take or leave their place in the queue
    refresh_usage(now);                // LocalQueues get theirs
    run_pod_stage(now, out);           // admitted gangs keep their nodes before anybody else is admitted
    busy = run_cycles(now, out) || busy;
    busy = busy || !dirty_.empty() || !places_dirty_.empty() || !pods_dirty_.empty();
  }
  out.more = out.more || busy;
  reconcile_queue_statuses(now, out);
  write_statuses(now, out);
  out.next_deadline = earliest_deadline();
  return out;
}

Explanation Core::explain(TimePoint now, const ObjectKey& workload, const ExplainOptions& options) {
  return framework::explain({model_, queue_, cycle_, options_.totals, now}, workload, options);
}

// ---- reconciling ----

bool Core::reconcile_dirty(TimePoint now, Output& out) {
  std::set<Touched> batch;
  batch.swap(dirty_);
  for (const Touched& object : batch) {
    if (reports_usage(object.first)) {
      queue_dirty_.insert(object);
      if (object.first == Kind::kClusterQueue) {
        touch_cohorts_above(ClusterQueueName(object.second.name));
      }
    } else {
      reconcile(object, now, out);
    }
  }
  return !batch.empty();
}

// Their usage may have changed with the queue's.
void Core::touch_cohorts_above(const ClusterQueueName& queue) {
  const QuotaTree& quota = model_.quota();
  const auto node = quota.find(queue);
  for (auto at = node ? quota.parent_of(*node) : std::nullopt; at; at = quota.parent_of(*at)) {
    const ObjectKey key{{}, quota.name_of(*at)};
    if (model_.objects().find<api::Cohort>(key) != nullptr) {  // an implicit one has no status
      queue_dirty_.insert({Kind::kCohort, key});
    }
  }
}

void Core::reconcile(const Touched& object, TimePoint now, Output& out) {
  const auto& [kind, key] = object;
  for (const auto& reconciler : reconcilers_) {
    if (reconciler->kind() != kind) {
      continue;
    }
    ReconcileResult result;
    reconciler->reconcile(key, ReconcileContext{model_, queue_, now, this}, result);
    for (auto& [workload, status] : result.workload_statuses) {
      set_status(workload, std::move(status));
    }
    for (EffectBody& body : result.effects) {
      emit(now, std::move(body), out);
    }
    if (result.again_at) {
      again_at(kind, key, *result.again_at);
    }
  }
}

bool Core::is_known(const Touched& queue) const {
  const Objects& objects = model_.objects();
  switch (queue.first) {
    case Kind::kClusterQueue:
      return objects.find<api::ClusterQueue>(queue.second) != nullptr;
    case Kind::kCohort:
      return objects.find<api::Cohort>(queue.second) != nullptr;
    default:
      return objects.find<api::LocalQueue>(queue.second) != nullptr;
  }
}

void Core::reconcile_queue_statuses(TimePoint now, Output& out) {
  std::set<Touched> batch;
  batch.swap(queue_dirty_);
  for (const Touched& object : batch) {
    const auto last = queue_status_at_.find(object);
    if (last != queue_status_at_.end() && now < last->second + options_.queue_status_period) {
      again_at(object.first, object.second, last->second + options_.queue_status_period);
      continue;
    }
    if (is_known(object)) {
      queue_status_at_[object] = now;
    } else {
      queue_status_at_.erase(object);
    }
    reconcile(object, now, out);
  }
}

// ---- the queue ----

void Core::refresh_cluster_queues() {
  if (!cluster_queues_dirty_) {
    return;
  }
  cluster_queues_dirty_ = false;
  for (const auto& [key, queue] : model_.objects().all<api::ClusterQueue>().all()) {
    const ClusterQueueName name(queue->meta.name);
    queue_.set_cluster_queue(name, queue->queueing_strategy, is_active(model_, name));
  }
  const std::set<ObjectKey> holding = model_.holding();
  for (const ObjectKey& key : holding) {  // nobody waits in a queue that is not active
    if (!is_active(model_, model_.workload(key)->hold->cluster_queue)) {
      drop_hold(key);
    }
  }
}

void Core::refresh_places(TimePoint now, Output& out) {
  std::set<ObjectKey> batch;
  batch.swap(places_dirty_);
  for (const ObjectKey& key : batch) {
    note_usage(now, key);
    refresh_place(now, key, out);
  }
}

void Core::refresh_place(TimePoint now, const ObjectKey& key, Output& out) {
  const WorkloadState* state = model_.workload(key);
  const ClusterQueueName queue = state == nullptr ? ClusterQueueName{} : model_.cluster_queue_of(*state->observed);
  std::shared_ptr<const api::Workload> workload = state == nullptr ? nullptr : state->observed;
  if (state != nullptr && !(state->status == workload->status)) {  // judge by what was decided, not by what was seen
    auto assumed = std::make_shared<api::Workload>(*workload);
    assumed->status = state->status;
    workload = std::move(assumed);
  }
  const auto* local = workload == nullptr ? nullptr : model_.objects().find<api::LocalQueue>(
                                                          {key.ns, workload->queue_name.str()});
  const bool stopped = local == nullptr || local->stop_policy != api::StopPolicy::kNone;
  const bool still_charged = state != nullptr && state->charge.has_value();  // its release is not in writing yet
  if (workload == nullptr || still_charged || stopped || queue.empty() || !model_.quota().contains(queue) ||
      workload->meta.deletion_timestamp || !api::is_queueable(*workload)) {
    if (const WorkloadInfo* queued = queue_.find(key)) {
      forget_unstamped(*queued);
      queue_.remove(key);
    }
    drop_hold(key);
    return;
  }
  WorkloadInfo fresh = build_info(workload, queue, model_.objects(), options_.totals);
  take_usage_place(fresh);
  if (const WorkloadInfo* queued = queue_.find(key);
      queued != nullptr && (queued->class_id != fresh.class_id || queued->cluster_queue != queue)) {
    forget_unstamped(*queued);
  }
  queue_.push(std::move(fresh));
  const WorkloadInfo& info = *queue_.find(key);
  const Wake timer{WakeKind::kTime, to_string(key)};
  for (const std::map<ObjectKey, Setback>* setbacks : {&refused_, &setbacks_}) {
    const auto setback = setbacks->find(key);
    if (setback != setbacks->end() && now < setback->second.not_before) {
      drop_hold(key);
      queue_.park_alone(key, {.reason = std::string(kPendingEvaluation),
                              .message = std::string(setback->second.message),
                              .wakes = {timer}});
      again_at(Kind::kWorkload, key, setback->second.not_before);
      return;
    }
  }
  if (!api::backoff_expired(*workload, now)) {
    drop_hold(key);
    queue_.park_alone(key, {.reason = std::string(kPendingEvaluation),
                            .message = "The workload is backing off after an eviction",
                            .wakes = {timer, {WakeKind::kWorkload, to_string(key)}}});
    if (workload->status.requeue_state && workload->status.requeue_state->requeue_at) {
      again_at(Kind::kWorkload, key, *workload->status.requeue_state->requeue_at);
    }
    return;
  }
  for (const Enabled<PreEnqueue>& entry : profile_.pre_enqueue) {
    Verdict verdict = entry.plugin->pre_enqueue(info, model_);
    if (!verdict.ok()) {
      ParkedReason why{entry.name, verdict.reason(), verdict.message(), verdict.wakes()};
      why.wakes.push_back({WakeKind::kWorkload, to_string(key)});
      out.trace.push_back({.workload = key,
                           .cluster_queue = queue,
                           .outcome = Outcome::kGated,
                           .plugin = entry.name,
                           .reason = why.reason,
                           .message = why.message,
                           .wakes = why.wakes});
      drop_hold(key);
      stamp_pending(now, info, why);
      queue_.park_alone(key, std::move(why));
      return;
    }
  }
  if (api::find_condition(workload->status.conditions, api::kQuotaReserved) == nullptr) {
    unstamped_[{queue, info.class_id}].insert(key);
    if (const std::optional<ParkedReason> why = queue_.reason(key); why && !why->plugin.empty()) {
      stamp_class(now, info, *why);
    }
  }
}

// ---- effects ----

bool Core::emit(TimePoint now, EffectBody body, Output& out) {
  Effect effect{.id = next_id_, .body = std::move(body)};
  const std::string slot = merge_key(effect);
  if (!slot.empty()) {
    const auto newest = newest_.find(slot);
    if (newest != newest_.end() && in_flight_.at(newest->second).effect.body == effect.body) {
      return false;  // on its way already
    }
    const ObjectRef object = target(effect);
    const Touched key{object.kind, object.key};
    if (const auto rejected = rejections_.find(key); rejected != rejections_.end()) {
      const auto rejection = rejected->second.find(slot);
      if (rejection != rejected->second.end() && now < rejection->second.setback.not_before) {
        again_at(object.kind, object.key, rejection->second.setback.not_before);
        return false;
      }
    }
    newest_[slot] = effect.id;
    ++writes_[key];
    in_flight_.emplace(effect.id, InFlight{effect, version_of(object)});
  }
  ++next_id_;
  out.effects.push_back(std::move(effect));
  return true;
}

void Core::write_statuses(TimePoint now, Output& out) {
  std::set<ObjectKey> batch;
  batch.swap(status_dirty_);
  for (const ObjectKey& key : batch) {
    const WorkloadState* state = model_.workload(key);
    if (state == nullptr || state->status == state->observed->status) {
      untold_.erase(key);
      continue;
    }
    if (state->status_write) {
      continue;  // its end brings us back
    }
    if (const auto refused = refused_.find(key); refused != refused_.end() && now < refused->second.not_before) {
      again_at(Kind::kWorkload, key, refused->second.not_before);
      continue;
    }
    model_.status_write_started(key, next_id_);
    emit(now, PatchWorkloadStatus{.workload = {Kind::kWorkload, key, state->observed->meta.uid},
                             .resource_version = state->observed->meta.resource_version,
                             .status = state->status,
                             .events = std::move(untold_[key])},
         out);
    untold_.erase(key);
  }
}

// ---- time ----

void Core::collect_due(TimePoint now) {
  for (const Touched& object : again_.take_due(now)) {
    if (object.first == Kind::kWorkload) {
      wake(WakeKind::kTime, to_string(object.second));
      touch_workload(object.second);
    } else {
      dirty_.insert(object);
    }
  }
  for (const Touched& object : unseen_until_.take_due(now)) {
    dirty_.insert(object);
  }
  for (const ObjectKey& key : hold_until_.take_due(now)) {
    drop_hold(key);
    wake(WakeKind::kTime, to_string(key));
  }
}

std::optional<TimePoint> Core::earliest_deadline() const {
  std::optional<TimePoint> earliest;
  for (const std::optional<TimePoint>& when : {again_.earliest(), unseen_until_.earliest(), hold_until_.earliest()}) {
    if (when && (!earliest || *when < *earliest)) {
      earliest = when;
    }
  }
  return earliest;
}

}  // namespace muster::framework
