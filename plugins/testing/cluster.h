// A core with the default profile and the API server behind it, which stores every status at once: for tests of whole
// decisions, without jobs and pods. Its includer links muster::plugins. Not linked into the product.
#pragma once

#include "api/testing/builders.h"
#include "framework/core.h"
#include "framework/profile.h"
#include "framework/status/workload_conditions.h"
#include "plugins/register_all.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::plugins::testing {

inline framework::Profile default_profile(const framework::PluginDeps& deps) {
  static framework::Registry registry = [] {
    framework::Registry all;
    register_all(all);
    return all;
  }();
  return framework::make_profile("", registry, default_plugins(deps), deps).value();
}

// A core and the API server behind it: every status it writes is stored at once.
class Cluster {
 public:
  explicit Cluster(framework::CoreOptions options = {}, const framework::PluginDeps& deps = {})
      : core_(std::move(options), default_profile(deps), {}) {
    add(api::testing::a_namespace("ns"));
    core_.apply(now_, framework::Synced{});
  }

  template <class Builder>
  Cluster& add(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    store(std::make_shared<const Object>(builder.obj()));
    return *this;
  }

  Cluster& flavors(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      add(api::testing::a_flavor(name));
    }
    return *this;
  }

  // With a LocalQueue of the same name.
  Cluster& queue(const api::testing::ClusterQueueBuilder& queue) {
    const std::string name = queue.obj().meta.name;
    return add(queue).add(api::testing::a_local_queue("ns", name).cluster_queue(name));
  }

  Cluster& wait_until(TimePoint when) {
    now_ = when;
    return *this;
  }

  // Until nothing is left to decide or to write.
  Cluster& settle() {
    for (int round = 0; round < 100; ++round) {
      framework::Output out = core_.settle(now_);
      trace_.insert(trace_.end(), out.trace.begin(), out.trace.end());
      for (const framework::Effect& effect : out.effects) {
        carry_out(effect);
      }
      if (out.effects.empty() && !out.more) {
        EXPECT_TRUE(core_.model().audit().empty());
        return *this;
      }
    }
    ADD_FAILURE() << "never settles";
    return *this;
  }

  // The job of an evicted Workload is inactive.
  void release(const std::string& name) {
    api::Workload workload = *stored_.at(name);
    framework::release_evicted(workload.status, framework::Requeue::kAtOnce, framework::stamp_of(workload, now_));
    store(std::make_shared<const api::Workload>(std::move(workload)));
  }

  void finish(const std::string& name) {
    api::Workload workload = *stored_.at(name);
    framework::set_finished(workload.status, "Succeeded", "", framework::stamp_of(workload, now_));
    store(std::make_shared<const api::Workload>(std::move(workload)));
  }

  void remove(const api::testing::WorkloadBuilder& workload) {
    const std::shared_ptr<const api::Workload> last = stored_.at(workload.obj().meta.name);
    core_.apply(now_, framework::ObjectEvent(framework::Deleted<api::Workload>{last}));
  }

  void refuse_next_write(ErrorCode code) { refuse_ = code; }

  const api::WorkloadStatus& status(const std::string& name) const { return stored_.at(name)->status; }

  bool admitted(const std::string& name) const { return api::is_true(status(name).conditions, api::kAdmitted); }

  // `count x flavor` of the first podset; empty: not admitted.
  std::string place(const std::string& name, const std::string& resource = "cpu") const {
    if (!admitted(name)) {
      return {};
    }
    const api::PodSetAssignment& assigned = status(name).admission->pod_set_assignments.front();
    return std::to_string(assigned.count) + "x" + assigned.flavors.at(resource).str();
  }

  // `Reason: message` of why it waits.
  std::string why(const std::string& name) const {
    const api::Condition* condition = api::find_condition(status(name).conditions, api::kQuotaReserved);
    return condition == nullptr ? "" : condition->reason + ": " + condition->message;
  }

  std::vector<std::string> evicted() const {
    std::vector<std::string> names;
    for (const auto& [name, workload] : stored_) {
      if (api::is_true(workload->status.conditions, api::kEvicted)) {
        names.push_back(name);
      }
    }
    return names;
  }

  // Notes of its events with this reason.
  std::string event(const std::string& name, const std::string& reason) const {
    const auto it = events_.find({name, reason});
    return it == events_.end() ? "" : it->second;
  }

  // `workload outcome`, one an entry of a cycle.
  std::vector<std::string> told(const std::string& name) const {
    std::vector<std::string> lines;
    for (const framework::TraceEntry& entry : trace_) {
      if (entry.workload.name == name) {
        lines.push_back(std::string(to_string(entry.outcome)) + ": " + entry.message);
      }
    }
    return lines;
  }

  const framework::Core& core() const { return core_; }

 private:
  template <class Object>
  void store(std::shared_ptr<const Object> object) {
    if constexpr (std::is_same_v<Object, api::Workload>) {
      auto next = std::make_shared<api::Workload>(*object);
      next->meta.resource_version = std::to_string(++version_);
      stored_[next->meta.name] = next;
      object = next;
    }
    core_.apply(now_, framework::ObjectEvent(framework::Upserted<Object>{std::move(object)}));
  }

  void carry_out(const framework::Effect& effect) {
    if (const auto* event = std::get_if<framework::EmitEvent>(&effect.body)) {
      tell(*event);
      return;
    }
    const auto* patch = std::get_if<framework::PatchWorkloadStatus>(&effect.body);
    if (patch == nullptr) {
      core_.apply(now_, framework::EffectDone{effect.id});
      return;
    }
    const std::shared_ptr<const api::Workload> before = stored_.at(patch->workload.key.name);
    if (refuse_) {
      const bool gone = *refuse_ == ErrorCode::kNotFound;
      core_.apply(now_, framework::EffectFailed{effect.id, Error{.code = *refuse_}, gone ? nullptr : before});
      refuse_.reset();
      return;
    }
    auto after = std::make_shared<api::Workload>(*before);
    after->status = patch->status;
    after->meta.resource_version = std::to_string(++version_);
    stored_[after->meta.name] = after;
    for (const framework::EmitEvent& event : patch->events) {
      tell(event);
    }
    core_.apply(now_, framework::EffectDone{effect.id, after});
  }

  void tell(const framework::EmitEvent& event) { events_[{event.regarding.key.name, event.reason}] = event.note; }

  framework::Core core_;
  TimePoint now_ = api::testing::at(1000);
  std::uint64_t version_ = 0;
  std::optional<ErrorCode> refuse_{};
  std::map<std::string, std::shared_ptr<const api::Workload>> stored_{};
  std::map<std::pair<std::string, std::string>, std::string> events_{};
  framework::Trace trace_{};
};

}  // namespace muster::plugins::testing
