// Tests of reconcilers: a cluster as a list of objects, one reconcile over it, and what came out as text. Header of
// tests only.
#pragma once

#include "api/codec/enums.h"
#include "api/testing/builders.h"
#include "framework/reconciler.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::controllers::testing {

// `Evicted=True Preempted: the message`
inline std::string brief(const api::Condition& condition) {
  return condition.type + "=" + std::string(api::name_of(api::kConditionStatusNames, condition.status)) + " " +
         condition.reason + ": " + condition.message;
}

inline std::string brief(const framework::EmitEvent& event) {
  return "Event " + to_string(event.regarding.key) + (event.warning ? " Warning " : " ") + event.reason + ": " +
         event.note;
}

struct Brief {
  std::string operator()(const framework::CreateWorkload& e) const {
    return "CreateWorkload " + e.name + " priority=" + std::to_string(e.priority) +
           (e.priority_class ? " class=" + e.priority_class->name : "") + told(e.event);
  }

  std::string operator()(const framework::AdoptWorkload& e) const {
    return "AdoptWorkload " + to_string(e.workload.key) + " by " + to_string(e.job.key);
  }

  std::string operator()(const framework::RewriteWorkload& e) const {
    return "RewriteWorkload " + to_string(e.workload.key) + told(e.event);
  }

  std::string operator()(const framework::PatchWorkloadSpec& e) const {
    std::string text = "PatchSpec " + to_string(e.workload.key);
    text += e.queue_name ? " queue=" + e.queue_name->str() : "";
    text += e.active ? std::string(" active=") + (*e.active ? "true" : "false") : "";
    text += e.priority_class ? " class=" + e.priority_class->name : "";
    text += e.priority ? " priority=" + std::to_string(*e.priority) : "";
    text += e.admission_gated_by ? " gates=" + *e.admission_gated_by : "";
    return text + told(e.event);
  }

  std::string operator()(const framework::ChangeFinalizer& e) const {
    return std::string(e.change == framework::FinalizerChange::kAdd ? "AddFinalizer " : "RemoveFinalizer ") +
           to_string(e.object.key) + " " + e.finalizer;
  }

  std::string operator()(const framework::DeleteObject& e) const {
    return "Delete " + std::string(framework::to_string(e.object.kind)) + " " + to_string(e.object.key) + told(e.event);
  }

  std::string operator()(const framework::StartJob& e) const {
    return "StartJob " + to_string(e.job.key) + told(e.event);
  }

  std::string operator()(const framework::StopJob& e) const {
    return "StopJob " + to_string(e.job.key) + " " + e.reason +
           (e.workload ? " restore=" + to_string(e.workload->key) : "") + told(e.event);
  }

  std::string operator()(const framework::UngatePod& e) const {
    return "UngatePod " + to_string(e.pod.key) + " " + e.gate + told(e.event);
  }

  std::string operator()(const framework::PatchPodCondition& e) const {
    return "PodCondition " + to_string(e.pod.key) + " " + brief(e.condition);
  }

  std::string operator()(const framework::EmitEvent& e) const { return brief(e); }

  std::string operator()(const framework::PatchClusterQueueStatus& e) const {
    return "ClusterQueueStatus " + e.queue.key.name;
  }

  std::string operator()(const framework::PatchLocalQueueStatus& e) const {
    return "LocalQueueStatus " + to_string(e.queue.key);
  }

  std::string operator()(const framework::PatchCohortStatus& e) const { return "CohortStatus " + e.cohort.key.name; }

  std::string operator()(const framework::PatchWorkloadStatus& e) const {
    return "WorkloadStatus " + to_string(e.workload.key);
  }

  std::string operator()(const framework::BindPod& e) const { return "BindPod " + to_string(e.pod.key); }

 private:
  static std::string told(const std::optional<framework::EmitEvent>& event) {
    return event ? " [" + event->reason + ": " + event->note + "]" : std::string();
  }
};

class FixedQueue final : public framework::QueueView {
 public:
  framework::PendingCounts pending(const ClusterQueueName& /*queue*/) const override { return counts; }

  framework::PendingCounts pending_in(const ObjectKey& /*local_queue*/) const override { return counts; }

  framework::PendingCounts counts{};
};

class FixedWrites final : public framework::WritesView {
 public:
  bool pending(const framework::ObjectRef& /*object*/) const override { return under_way; }

  bool under_way = false;
};

// What one reconcile returned.
struct Outcome {
  std::vector<std::string> effects{};
  std::map<ObjectKey, api::WorkloadStatus> statuses{};
  framework::ReconcileResult result{};

  // The conditions of the only status returned, as text; empty when none was.
  std::vector<std::string> conditions() const {
    std::vector<std::string> texts;
    if (statuses.size() == 1) {
      for (const api::Condition& condition : statuses.begin()->second.conditions) {
        texts.push_back(brief(condition));
      }
    }
    return texts;
  }
};

// A list of objects; a value. `now` is seconds after the builders' epoch.
class World {
 public:
  World& now(std::int64_t seconds) {
    now_ = seconds;
    return *this;
  }

  World& pending(std::int32_t workloads) {
    pending_ = workloads;
    return *this;
  }

  World& writing() {
    writing_ = true;
    return *this;
  }

  template <class Built>
  World& with(const Built& built) {
    add_object(object_of(built));
    return *this;
  }

  template <class Built>
  World& gone(const Built& built) {
    using Object = decltype(object_of(built));
    events_.emplace_back(framework::Deleted<Object>{std::make_shared<const Object>(object_of(built))});
    return *this;
  }

  // A status that was decided and is not stored yet.
  World& assume(const ObjectKey& workload, const api::WorkloadStatus& status) {
    assumed_.emplace_back(workload, status);
    return *this;
  }

  // What else the core has told the model.
  World& prepare(std::function<void(framework::Model&)> step) {
    steps_.push_back(std::move(step));
    return *this;
  }

  Outcome reconcile(const framework::Reconciler& reconciler, const ObjectKey& key) const {
    framework::Model model;
    for (const framework::ObjectEvent& event : events_) {
      model.observe(event);
    }
    for (const auto& [workload, status] : assumed_) {
      model.assume(workload, status);
    }
    for (const auto& step : steps_) {
      step(model);
    }
    FixedQueue queue;
    queue.counts.active = pending_;
    FixedWrites writes;
    writes.under_way = writing_;
    Outcome outcome;
    reconciler.reconcile(key, {.model = model, .queue = queue, .now = api::testing::at(now_), .writes = &writes},
                         outcome.result);
    for (const framework::EffectBody& effect : outcome.result.effects) {
      outcome.effects.push_back(std::visit(Brief{}, effect));
    }
    for (const auto& [workload, status] : outcome.result.workload_statuses) {
      outcome.statuses[workload] = status;
    }
    return outcome;
  }

 private:
  template <class Object>
  static auto object_of(const Object& object) {
    if constexpr (requires { object.obj(); }) {
      return object.obj();
    } else {
      return object;
    }
  }

  template <class T>
  void add_object(T object) {
    events_.emplace_back(framework::Upserted<T>{std::make_shared<const T>(std::move(object))});
  }

  std::vector<framework::ObjectEvent> events_{};
  std::vector<std::pair<ObjectKey, api::WorkloadStatus>> assumed_{};
  std::vector<std::function<void(framework::Model&)>> steps_{};
  std::int64_t now_ = 0;
  std::int32_t pending_ = 0;
  bool writing_ = false;
};

}  // namespace muster::controllers::testing
