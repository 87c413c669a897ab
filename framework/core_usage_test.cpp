// Admission fair sharing as the core drives it. What a history is worth is tested in model/local_queue_usage_test.cpp.
#include <gtest/gtest.h>

#include <cmath>
#include <type_traits>

#include "api/testing/builders.h"
#include "framework/core.h"

namespace muster::framework {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_local_queue;
using api::testing::a_workload;
using api::testing::at;

class ByPriority final : public QueueSort {
 public:
  bool less(const WorkloadInfo& a, const WorkloadInfo& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.uid() < b.uid();
  }

  bool entry_less(const Entry& a, const Entry& b) const override { return less(*a.workload, *b.workload); }
};

class OneFlavor final : public Filter {
 public:
  Verdict filter(FilterContext& context, Assignment& assignment, std::vector<FlavorExclusion>&) const override {
    for (const PodSetTotals& totals : context.workload.pod_sets) {
      PodSetChoice choice{.name = totals.name, .count = totals.count, .requests = totals.requests};
      for (const auto& [resource, amount] : totals.requests) {
        choice.flavors[resource] = {.flavor = FlavorName("default"), .mode = FitMode::kFit};
        assignment.usage[{FlavorName("default"), resource}] += amount;
      }
      assignment.pod_sets.push_back(std::move(choice));
    }
    if (!passes(context, assignment)) {
      const std::string root = context.model().quota().root_key(context.workload.cluster_queue);
      return Verdict::unschedulable("WaitingForQuota", "no quota").wakes_on({{WakeKind::kQuota, root}});
    }
    assignment.mode = FitMode::kFit;
    return {};
  }

  bool passes(FilterContext& context, Assignment& assignment) const override {
    return context.model().quota().fits(context.workload.cluster_queue, assignment.usage);
  }
};

class CoreUsageTest : public ::testing::Test {
 protected:
  CoreUsageTest() {
    profile_.queue_sort = {{.name = "ByPriority", .plugin = &sort_}};
    profile_.filter = {{.name = "OneFlavor", .plugin = &filter_}};
    start(queue("2"));
  }

  static api::testing::ClusterQueueBuilder queue(const std::string& cpu) {
    return a_cluster_queue("cq").quota("cpu", "default", cpu).usage_based_fair_sharing();
  }

  // A new process over what is stored.
  void start(const api::testing::ClusterQueueBuilder& cluster_queue) {
    CoreOptions options;
    options.admission_fair_sharing =
        UsageRules{.half_life = std::chrono::minutes(10), .sampling = std::chrono::minutes(5)};
    core_ = std::make_unique<Core>(options, profile_, std::vector<std::unique_ptr<Reconciler>>{});
    add(api::testing::a_namespace("ns"));
    add(api::testing::a_flavor("default"));
    add(cluster_queue);
    add(a_local_queue("ns", "a").cluster_queue("cq"));
    add(a_local_queue("ns", "b").cluster_queue("cq"));
    core_->apply(now_, Synced{});
  }

  template <class Builder>
  void add(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    core_->apply(now_, ObjectEvent(Upserted<Object>{std::make_shared<const Object>(builder.obj())}));
  }

  void pending(const std::string& name, const std::string& queue, int priority = 0) {
    add(a_workload("ns", name).queue(queue).priority(priority).request("cpu", "1"));
  }

  Output settle(Duration later = Duration(0)) {
    now_ += later;
    return core_->settle(now_);
  }

  // Of the admitted, in the order of their decisions.
  static std::vector<std::string> admitted(const Output& out) {
    std::vector<std::string> names;
    for (const TraceEntry& entry : out.trace) {
      if (entry.outcome == Outcome::kAdmitted) {
        names.push_back(entry.workload.name);
      }
    }
    return names;
  }

  // How every status write of a settle ends.
  void answer(const Output& out, bool stored) {
    for (const Effect& effect : out.effects) {
      const auto* write = std::get_if<PatchWorkloadStatus>(&effect.body);
      if (write == nullptr) {
        continue;
      }
      auto object = std::make_shared<api::Workload>(*core_->model().workload(write->workload.key)->observed);
      if (stored) {
        object->status = write->status;
        object->meta.resource_version = std::to_string(++version_);
        core_->apply(now_, EffectDone{.id = effect.id, .workload = std::move(object)});
      } else {
        core_->apply(now_, EffectFailed{.id = effect.id, .error = {}, .workload = std::move(object)});
      }
    }
  }

  Nano pending_penalty(const std::string& queue) const {
    const NanoAmounts amounts = core_->model().usage().pending({"ns", queue});
    return amounts.empty() ? 0 : amounts.at("cpu");
  }

  TimePoint now_ = at(1000);
  int version_ = 100;
  ByPriority sort_{};
  OneFlavor filter_{};
  Profile profile_{};
  std::unique_ptr<Core> core_{};
};

TEST_F(CoreUsageTest, Case23_EachAdmissionCountsBeforeTheNext) {
  for (const char* name : {"a1", "a2", "a3"}) {
    pending(name, "a", 9);
  }
  pending("b1", "b", 1);
  EXPECT_EQ(admitted(settle()), (std::vector<std::string>{"a1", "b1"}));
}

TEST_F(CoreUsageTest, Case108_AFailedWriteTakesThePenaltyBack) {
  pending("a1", "a");
  const Output out = settle();
  EXPECT_EQ(pending_penalty("a"), 292'893'218);
  answer(out, false);
  EXPECT_EQ(pending_penalty("a"), 0);
  settle();
  EXPECT_EQ(*core_->model().usage().place({"ns", "a"}), 0);
}

TEST_F(CoreUsageTest, AStoredAdmissionIsHistory) {
  pending("a1", "a");
  answer(settle(), true);
  settle(std::chrono::minutes(5));
  EXPECT_EQ(pending_penalty("a"), 0);
  const auto status = core_->model().usage().published({"ns", "a"}, now_);
  EXPECT_EQ(status->last_update, now_);
  // The penalty, decayed, and five minutes of use.
  EXPECT_NEAR(static_cast<double>(status->consumed_resources.at("cpu")), 292'893'218 * 0.70710678 + 292'893'218, 2);
}

TEST_F(CoreUsageTest, TheScopeIsFollowedAtOnce) {
  pending("a1", "a", 9);
  answer(settle(), true);
  pending("a2", "a", 9);
  pending("a3", "a", 9);
  pending("b1", "b", 1);
  now_ += std::chrono::seconds(5);
  add(a_cluster_queue("cq").quota("cpu", "default", "2").generation(2));
  EXPECT_EQ(admitted(settle()), (std::vector<std::string>{"a2"}));
  EXPECT_EQ(core_->model().usage().place({"ns", "a"}), nullptr);
  add(queue("4").generation(3));
  EXPECT_EQ(admitted(settle()), (std::vector<std::string>{"b1", "a3"}));
}

TEST_F(CoreUsageTest, Weight0GoesLast) {
  add(a_local_queue("ns", "a").cluster_queue("cq").weight("0").generation(2));
  pending("a1", "a", 9);
  pending("b1", "b", 1);
  pending("b2", "b", 1);
  EXPECT_EQ(admitted(settle()), (std::vector<std::string>{"b1", "b2"}));
}

TEST_F(CoreUsageTest, AQueueThatGoesTakesItsHistoryAlong) {
  pending("a1", "a");
  answer(settle(), true);
  core_->apply(now_, ObjectEvent(Deleted<api::LocalQueue>{
                         std::make_shared<const api::LocalQueue>(a_local_queue("ns", "a").cluster_queue("cq").obj())}));
  pending("a2", "a");
  core_->apply(now_, ObjectEvent(Deleted<api::Workload>{std::make_shared<const api::Workload>(
                         a_workload("ns", "a1").queue("a").request("cpu", "1").obj())}));
  settle();
  EXPECT_EQ(core_->model().usage().place({"ns", "a"}), nullptr);
}

// What is stored of admissions decided just before the end of a process counts in the next, once.
TEST_F(CoreUsageTest, ARestartSettlesWhatTheStatusDoesNotKnow) {
  const auto workload = [this](const std::string& name, TimePoint when) {
    add(a_workload("ns", name).queue("a").request("cpu", "1").admitted("cq", "default", when));
  };
  core_ = nullptr;
  start(queue("9"));
  api::LocalQueue stored = a_local_queue("ns", "a").cluster_queue("cq");
  stored.status.admission_fair_sharing = {.consumed_resources = {{"cpu", kNanoPerUnit}}, .last_update = at(990)};
  core_->apply(now_, ObjectEvent(Upserted<api::LocalQueue>{std::make_shared<const api::LocalQueue>(stored)}));
  workload("known", at(989));
  workload("unknown", at(990));
  add(a_workload("ns", "over").queue("a").request("cpu", "1").admitted("cq", "default", at(990)).finished(at(991)));
  settle();
  const double use = 2e9 * (1 - std::exp2(-10.0 / 600)) + 1e9 * (std::exp2(-9.0 / 600) - std::exp2(-10.0 / 600));
  const double want = (1e9 + 2 * 292'893'218.0) * std::exp2(-10.0 / 600) + use;
  EXPECT_NEAR(static_cast<double>(core_->model().usage().published({"ns", "a"}, now_)->consumed_resources.at("cpu")),
              want, 10);
}

}  // namespace
}  // namespace muster::framework
