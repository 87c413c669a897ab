#include "server/workload_changes.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace muster::server {
namespace {

using api::Workload;

const api::Condition* became_true(const Workload& before, const Workload& after, std::string_view type) {
  const api::Condition* now = api::find_condition(after.status.conditions, type);
  const bool turned =
      now != nullptr && now->status == api::ConditionStatus::kTrue && !api::is_true(before.status.conditions, type);
  return turned ? now : nullptr;
}

Duration since(TimePoint begin, TimePoint end) {
  return std::max(Duration{0}, end - begin);
}

// When it was queued last.
TimePoint queued_at(const Workload& workload) {
  const api::Condition* requeued = api::find_condition(workload.status.conditions, api::kRequeued);
  return requeued == nullptr ? workload.meta.creation_timestamp : requeued->last_transition_time;
}

std::optional<Duration> since_condition(const Workload& workload, std::string_view type, TimePoint end) {
  const api::Condition* condition = api::find_condition(workload.status.conditions, type);
  return condition == nullptr ? std::nullopt : std::optional(since(condition->last_transition_time, end));
}

std::string queue_of(const Workload& before, const Workload& after) {
  if (after.status.admission) {
    return after.status.admission->cluster_queue.str();
  }
  return before.status.admission ? before.status.admission->cluster_queue.str() : std::string{};
}

// One pass over a pair of observations.
class Comparison {
 public:
  Comparison(const Workload& before, const Workload& after) : before_(before), after_(after) {}

  std::vector<WorkloadChange> run() {
    reserved();
    admitted();
    pods_ready();
    evicted();
    preempted();
    finished();
    return std::move(found_);
  }

 private:
  WorkloadChange& add(Change what) {
    found_.push_back({.what = what,
                      .cluster_queue = queue_of(before_, after_),
                      .local_queue = {after_.meta.ns, after_.queue_name.str()},
                      .priority_class = after_.priority_class_ref ? after_.priority_class_ref->name : std::string{}});
    return found_.back();
  }

  void reserved() {
    if (const auto* condition = became_true(before_, after_, api::kQuotaReserved)) {
      add(Change::kQuotaReserved).waited = since(queued_at(after_), condition->last_transition_time);
    }
  }

  void admitted() {
    if (const auto* condition = became_true(before_, after_, api::kAdmitted)) {
      WorkloadChange& change = add(Change::kAdmitted);
      change.waited = since(queued_at(after_), condition->last_transition_time);
      if (!after_.status.admission_checks.empty()) {
        change.since_last = since_condition(after_, api::kQuotaReserved, condition->last_transition_time);
      }
    }
  }

  void pods_ready() {
    const auto* condition = became_true(before_, after_, api::kPodsReady);
    if (condition != nullptr && condition->reason == "Started") {
      WorkloadChange& change = add(Change::kPodsReady);
      change.waited = since(queued_at(after_), condition->last_transition_time);
      change.since_last = since_condition(after_, api::kAdmitted, condition->last_transition_time);
    }
  }

  // The statistics in the status say which eviction is new, and whether it is the first of its kind.
  void evicted() {
    if (!before_.status.admission) {
      return;
    }
    for (const api::EvictionStat& stat : after_.status.evictions) {
      const auto& old = before_.status.evictions;
      const auto known = std::find_if(old.begin(), old.end(), [&stat](const api::EvictionStat& other) {
        return other.reason == stat.reason && other.underlying_cause == stat.underlying_cause;
      });
      const std::int32_t count = known == old.end() ? 0 : known->count;
      if (stat.count > count) {
        WorkloadChange& change = add(Change::kEvicted);
        change.reason = stat.reason;
        change.cause = stat.underlying_cause;
        change.first_of_its_kind = count == 0;
      }
    }
  }

  void preempted() {
    if (const auto* condition = became_true(before_, after_, api::kPreempted)) {
      WorkloadChange& change = add(Change::kPreempted);
      change.reason = condition->reason;
      change.cluster_queue = preemptor_queue(condition->message);
    }
  }

  void finished() {
    if (const auto* condition = became_true(before_, after_, api::kFinished)) {
      WorkloadChange& change = add(Change::kFinished);
      change.waited = std::chrono::seconds(after_.status.accumulated_past_execution_seconds.value_or(0));
      if (api::is_true(after_.status.conditions, api::kAdmitted)) {
        change.waited += since_condition(after_, api::kAdmitted, condition->last_transition_time).value_or(Duration{0});
      }
    }
  }

  // The message ends with the paths of both: `…; preemptor path: /root/queue; preemptee path: …` (§7.3). A queue's
  // name holds no slash.
  static std::string preemptor_queue(std::string_view message) {
    constexpr std::string_view kMark = "preemptor path: ";
    const auto begin = message.find(kMark);
    if (begin == std::string_view::npos) {
      return {};
    }
    const std::string_view rest = message.substr(begin + kMark.size());
    const std::string_view path = rest.substr(0, rest.find(';'));
    const auto slash = path.rfind('/');
    return slash == std::string_view::npos ? std::string{} : std::string(path.substr(slash + 1));
  }

  const Workload& before_;
  const Workload& after_;
  std::vector<WorkloadChange> found_{};
};

const Workload* new_observation(const framework::Event& event) {
  if (const auto* object = std::get_if<framework::ObjectEvent>(&event)) {
    const auto* upserted = std::get_if<framework::Upserted<Workload>>(object);
    return upserted == nullptr ? nullptr : upserted->object.get();
  }
  if (const auto* done = std::get_if<framework::EffectDone>(&event)) {
    return done->workload.get();
  }
  const auto* failed = std::get_if<framework::EffectFailed>(&event);
  return failed == nullptr ? nullptr : failed->workload.get();
}

}  // namespace

std::vector<WorkloadChange> changes(const Workload& before, const Workload& after) {
  return Comparison(before, after).run();
}

std::vector<WorkloadChange> changes(const framework::Event& event, const framework::Model& model) {
  const Workload* after = new_observation(event);
  const Workload* before = after == nullptr ? nullptr : model.objects().find<Workload>(after->meta.key());
  if (before == nullptr || before->meta.uid != after->meta.uid ||
      api::is_older_version(after->meta.resource_version, before->meta.resource_version)) {
    return {};
  }
  return changes(*before, *after);
}

}  // namespace muster::server
