// The core's loop with plugins of a few lines: what it does about lost, late and refused writes, and about decisions
// that fail. What the real plugins decide is tested in plugins/ and sim/.
#include "framework/core.h"

#include <gtest/gtest.h>

#include <functional>
#include <type_traits>

#include "api/constants.h"
#include "api/testing/builders.h"

namespace muster::framework {
namespace {

using api::testing::a_cluster_queue;
using api::testing::a_job;
using api::testing::a_local_queue;
using api::testing::a_namespace;
using api::testing::a_node;
using api::testing::a_pod;
using api::testing::a_workload;
using api::testing::at;

class ByPriority final : public QueueSort {
 public:
  bool less(const WorkloadInfo& a, const WorkloadInfo& b) const override {
    return a.priority != b.priority ? a.priority > b.priority : a.uid() < b.uid();
  }
  bool entry_less(const Entry& a, const Entry& b) const override { return less(*a.workload, *b.workload); }
};

// One flavor; fits when the quota does, unless the test says otherwise.
class OneFlavor final : public Filter {
 public:
  std::function<Verdict()> says = [] { return Verdict{}; };
  PlacementPlan plan{};
  mutable int asked = 0;

  Verdict filter(FilterContext& context, Assignment& assignment, std::vector<FlavorExclusion>&) const override {
    ++asked;
    if (Verdict verdict = says(); !verdict.ok()) {
      return verdict;
    }
    for (const PodSetTotals& totals : context.workload.pod_sets) {
      PodSetChoice choice{.name = totals.name, .count = totals.count, .requests = totals.requests};
      for (const auto& [resource, amount] : totals.requests) {
        choice.flavors[resource] = {.flavor = FlavorName("default"), .mode = FitMode::kFit};
        assignment.usage[{FlavorName("default"), resource}] += amount;
      }
      assignment.pod_sets.push_back(std::move(choice));
    }
    assignment.plan = plan;
    if (!passes(context, assignment)) {
      return Verdict::unschedulable("WaitingForQuota", "no quota");
    }
    assignment.mode = FitMode::kFit;
    return {};
  }
  bool passes(FilterContext& context, Assignment& assignment) const override {
    return context.model().quota().fits(context.workload.cluster_queue, assignment.usage);
  }
};

class Binder final : public Bind {
 public:
  std::function<Verdict()> says = [] { return Verdict{}; };
  Verdict bind(BindContext&) const override { return says(); }
};

class Listener final : public PostBind {
 public:
  mutable std::vector<std::string> told{};
  void post_bind(const ObjectKey& workload, const Model&) const override { told.push_back(to_string(workload)); }
};

// Suspends the job of the test once, and writes down whether a write of it is pending.
class JobWatcher final : public Reconciler {
 public:
  struct Notes {
    bool stop = false;
    bool stop_always = false;
    bool create_always = false;
    std::vector<bool> pending{};
  };
  explicit JobWatcher(Notes& notes) : notes_(notes) {}
  Kind kind() const override { return Kind::kJob; }
  void reconcile(const ObjectKey& key, const ReconcileContext& context, ReconcileResult& result) const override {
    const ObjectRef job{Kind::kJob, key, Uid("job")};
    notes_.pending.push_back(context.write_pending(job));
    if (notes_.create_always) {
      result.effects.emplace_back(CreateWorkload{.job = job, .name = "w"});
    }
    if (notes_.stop || notes_.stop_always) {
      notes_.stop = false;
      result.effects.emplace_back(StopJob{.job = job});
    }
  }

 private:
  Notes& notes_;
};

class CoreTest : public ::testing::Test {
 protected:
  CoreTest() {
    profile_.queue_sort = {{.name = "ByPriority", .plugin = &sort_}};
    profile_.filter = {{.name = "OneFlavor", .plugin = &filter_}};
    profile_.bind = {{.name = "Binder", .plugin = &binder_}};
    profile_.post_bind = {{.name = "Listener", .plugin = &listener_}};
    std::vector<std::unique_ptr<Reconciler>> reconcilers;
    reconcilers.push_back(std::make_unique<JobWatcher>(notes_));
    core_ = std::make_unique<Core>(CoreOptions{}, profile_, std::move(reconcilers));
    add(a_namespace("ns"));
    add(api::testing::a_flavor("default"));
    add(a_cluster_queue("cq").quota("cpu", "default", "2"));
    add(a_local_queue("ns", "lq").cluster_queue("cq"));
  }

  template <class Builder>
  void add(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    core_->apply(now_, ObjectEvent(Upserted<Object>{std::make_shared<const Object>(builder.obj())}));
  }
  template <class Builder>
  void gone(const Builder& builder) {
    using Object = std::decay_t<decltype(builder.obj())>;
    core_->apply(now_, ObjectEvent(Deleted<Object>{std::make_shared<const Object>(builder.obj())}));
  }
  void start() { core_->apply(now_, Synced{}); }
  Output settle(Duration later = Duration(0)) {
    now_ += later;
    return core_->settle(now_);
  }

  template <class Body>
  static std::vector<Effect> effects_of(const Output& out) {
    std::vector<Effect> found;
    std::copy_if(out.effects.begin(), out.effects.end(), std::back_inserter(found),
                 [](const Effect& effect) { return std::holds_alternative<Body>(effect.body); });
    return found;
  }

  // Answers a status write as an API server would, with this resourceVersion.
  void store(const Effect& effect, const std::string& version) {
    const auto& write = std::get<PatchWorkloadStatus>(effect.body);
    auto stored = std::make_shared<api::Workload>(*core_->model().workload(write.workload.key)->observed);
    stored->status = write.status;
    stored->meta.resource_version = version;
    core_->apply(now_, EffectDone{.id = effect.id, .workload = std::move(stored)});
  }

  api::testing::WorkloadBuilder workload(const std::string& name, const std::string& cpu = "1") const {
    return a_workload("ns", name).queue("lq").request("cpu", cpu);
  }

  TimePoint now_ = at(1000);
  ByPriority sort_{};
  OneFlavor filter_{};
  Binder binder_{};
  Listener listener_{};
  JobWatcher::Notes notes_{};
  Profile profile_{};
  std::unique_ptr<Core> core_{};
};

api::testing::JobBuilder the_job(const std::string& version) {
  return a_job("ns", "job").uid("job").resource_version(version);
}

// ---- writes that the watch has not shown yet ----

struct SightCase {
  const char* name;
  std::string written;     // what the answer said
  std::string seen_later;  // the version that the watch shows afterwards; empty: nothing
  Duration after{};
  bool pending_at_last;
};

class WriteInSight : public CoreTest, public ::testing::WithParamInterface<SightCase> {};

TEST_P(WriteInSight, CountsUntilTheWatchShowsIt) {
  const SightCase& row = GetParam();
  add(the_job("10"));
  start();
  notes_.stop = true;
  const std::vector<Effect> stops = effects_of<StopJob>(settle());
  ASSERT_EQ(stops.size(), 1u);
  core_->apply(now_, EffectDone{.id = stops[0].id, .written_version = row.written});
  settle();
  if (!row.seen_later.empty()) {
    add(the_job(row.seen_later));
  }
  settle(row.after);
  add(a_namespace("ns"));  // touches its jobs
  settle();
  EXPECT_EQ(notes_.pending.back(), row.pending_at_last);
}

INSTANTIATE_TEST_SUITE_P(
    Cases, WriteInSight,
    ::testing::Values(
        SightCase{"NotSeen", "12", "", std::chrono::seconds(1), true},
        SightCase{"NotSeenForLong", "12", "", std::chrono::hours(1), true},
        SightCase{"AnOlderVersionIsNotIt", "12", "11", std::chrono::hours(1), true},
        SightCase{"Seen", "12", "12", Duration(0), false},
        SightCase{"ANewerOneContainsIt", "12", "13", Duration(0), false},
        SightCase{"SeenBeforeTheAnswer", "10", "", Duration(0), false},
        SightCase{"WithoutAVersionForAWhile", "", "", std::chrono::seconds(1), true},
        SightCase{"WithoutAVersionNotForEver", "", "", std::chrono::seconds(4), false}),
    [](const auto& row) { return row.param.name; });

TEST_F(CoreTest, AWriteOfAJobThatIsGoneIsNotWaitedFor) {
  add(the_job("10"));
  start();
  notes_.stop = true;
  const std::vector<Effect> stops = effects_of<StopJob>(settle());
  ASSERT_EQ(stops.size(), 1u);
  gone(the_job("11"));
  core_->apply(now_, EffectDone{.id = stops[0].id, .written_version = "12"});
  settle();
  EXPECT_FALSE(notes_.pending.back());
  add(the_job("20"));  // a new one of that name
  settle();
  EXPECT_FALSE(notes_.pending.back());
}

// ---- a standby ----

TEST_F(CoreTest, AStandbyKeepsFactsAndLooksAtEverythingWhenItLeads) {
  add(the_job("10"));
  add(workload("w"));
  start();
  add(workload("left"));
  gone(workload("left"));
  const Output out = settle();
  EXPECT_EQ(notes_.pending.size(), 1u);
  const std::vector<Effect> writes = effects_of<PatchWorkloadStatus>(out);
  ASSERT_EQ(writes.size(), 1u);
  EXPECT_EQ(target(writes[0]).key.name, "w");
}

// ---- events ----

TEST_F(CoreTest, EventsTravelWithTheStatusTheySpeakOf) {
  add(workload("w"));
  start();
  const Output out = settle();
  EXPECT_TRUE(effects_of<EmitEvent>(out).empty());
  const std::vector<Effect> writes = effects_of<PatchWorkloadStatus>(out);
  ASSERT_EQ(writes.size(), 1u);
  const auto& events = std::get<PatchWorkloadStatus>(writes[0].body).events;
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events[0].reason, "QuotaReserved");
  EXPECT_EQ(events[1].reason, "Admitted");
}

TEST_F(CoreTest, ARefusedStatusTellsNothingUntilItIsDecidedAnew) {
  add(workload("w"));
  start();
  const std::vector<Effect> writes = effects_of<PatchWorkloadStatus>(settle());
  ASSERT_EQ(writes.size(), 1u);
  core_->apply(now_, EffectFailed{.id = writes[0].id, .error = {.code = ErrorCode::kForbidden, .message = "no"}});
  EXPECT_TRUE(effects_of<PatchWorkloadStatus>(settle()).empty());
  const std::vector<Effect> again = effects_of<PatchWorkloadStatus>(settle(std::chrono::seconds(2)));
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(std::get<PatchWorkloadStatus>(again[0].body).events.size(), 2u);
}

// ---- writes that are refused ----

TEST_F(CoreTest, ARefusedWriteIsRepeatedLaterAndLater) {
  notes_.stop_always = true;
  add(the_job("10"));
  start();
  std::vector<Effect> stops = effects_of<StopJob>(settle());
  for (const int seconds : {1, 2, 4, 8}) {
    ASSERT_EQ(stops.size(), 1u) << seconds;
    core_->apply(now_, EffectFailed{.id = stops[0].id, .error = {.code = ErrorCode::kForbidden, .message = "quota"}});
    add(the_job("10"));  // being touched is no reason to hurry
    EXPECT_TRUE(effects_of<StopJob>(settle(std::chrono::seconds(seconds) - std::chrono::milliseconds(10))).empty());
    stops = effects_of<StopJob>(settle(std::chrono::milliseconds(10)));
  }
}

TEST_F(CoreTest, ARefusedCreationIsToldOnce) {
  notes_.create_always = true;
  add(the_job("10"));
  start();
  std::vector<Effect> creations = effects_of<CreateWorkload>(settle());
  std::vector<std::string> told;
  for (const char* why : {"quota", "quota", "webhook"}) {
    ASSERT_EQ(creations.size(), 1u);
    core_->apply(now_, EffectFailed{.id = creations[0].id, .error = {.code = ErrorCode::kForbidden, .message = why}});
    const Output out = settle(std::chrono::minutes(1));
    for (const Effect& effect : effects_of<EmitEvent>(out)) {
      told.push_back(std::get<EmitEvent>(effect.body).reason + " " + std::get<EmitEvent>(effect.body).note);
    }
    creations = effects_of<CreateWorkload>(out);
  }
  EXPECT_EQ(told, (std::vector<std::string>{"ErrWorkloadCompose quota", "ErrWorkloadCompose webhook"}));
}

// ---- prebuilt Workloads ----

TEST_F(CoreTest, AWorkloadThatNobodyControlsWakesTheJobThatNamesIt) {
  add(the_job("10").label(api::kPrebuiltWorkloadKey, "mine"));
  start();
  settle();
  const std::size_t looked = notes_.pending.size();
  add(workload("other"));
  settle();
  EXPECT_EQ(notes_.pending.size(), looked);
  add(workload("mine"));
  settle();
  EXPECT_EQ(notes_.pending.size(), looked + 1);
}

// ---- decisions that fail ----

TEST_F(CoreTest, APluginThatCannotJudgeIsAskedAgainLaterAndLater) {
  filter_.says = [] { return Verdict::error("broken"); };
  add(workload("w"));
  start();
  settle();
  EXPECT_EQ(filter_.asked, 1);
  int asked = 1;
  for (const int seconds : {1, 2, 4, 8}) {
    settle(std::chrono::seconds(seconds) - std::chrono::milliseconds(10));
    EXPECT_EQ(filter_.asked, asked) << seconds;
    settle(std::chrono::milliseconds(10));
    EXPECT_EQ(filter_.asked, ++asked) << seconds;
  }
  filter_.says = [] { return Verdict{}; };
  settle(std::chrono::seconds(16));
  EXPECT_TRUE(api::is_true(core_->model().workload({"ns", "w"})->status.conditions, api::kAdmitted));
}

TEST_F(CoreTest, AGangThatCannotBeBoundRestsBeforeItIsAdmittedAgain) {
  filter_.plan = {{.name = "main", .slots = {{.node = NodeName("n"), .count = 1}}}};
  binder_.says = [] { return Verdict::unschedulable("NodeFailures", "no node takes it"); };
  add(a_node("n").allocatable("cpu", "4"));
  add(workload("w"));
  start();
  Output out = settle();
  EXPECT_FALSE(out.more);
  EXPECT_LE(filter_.asked, 2);
  const WorkloadState* state = core_->model().workload({"ns", "w"});
  EXPECT_TRUE(api::is_true(state->status.conditions, api::kEvicted));
}

// ---- binding ----

TEST_F(CoreTest, PostBindIsToldOnceWhenAllPodsSit) {
  filter_.plan = {{.name = "main", .slots = {{.node = NodeName("n"), .count = 1}}}};
  add(a_node("n").allocatable("cpu", "4"));
  add(the_job("1"));
  add(workload("w").owner("batch/v1", "Job", "job", "job"));
  start();
  const std::vector<Effect> writes = effects_of<PatchWorkloadStatus>(settle());
  ASSERT_EQ(writes.size(), 1u);
  store(writes[0], "5");
  settle();
  EXPECT_TRUE(listener_.told.empty());
  const auto pod = a_pod("ns", "p").node("n").request("cpu", "1").owner("batch/v1", "Job", "job", "job");
  for (int i = 0; i < 3; ++i) {
    add(pod);
    settle();
  }
  EXPECT_EQ(listener_.told, std::vector<std::string>{"ns/w"});
}

}  // namespace
}  // namespace muster::framework
