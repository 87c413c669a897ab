#include "cmd/record/input_log.h"

#include "api/codec/decode.h"
#include "api/testing/builders.h"
#include "cmd/record/effect_json.h"
#include "cmd/record/object_json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::cmd {
namespace {

using namespace api::testing;  // NOLINT(google-build-using-namespace): the builders are the vocabulary here
using framework::Deleted;
using framework::Event;
using framework::ObjectEvent;
using framework::Upserted;

template <class T>
const T& object_in(const ObjectEvent& event) {
  return *std::get<Upserted<T>>(event).object;
}

Applied read_back(const Event& event, TimePoint now = at(7)) {
  const Result<LogLine> line = parse_line(format_line(Applied{.now = now, .event = event}));
  EXPECT_TRUE(line.ok()) << to_string(line.error());
  return std::get<Applied>(*line);
}

template <class T>
void expect_exact(const T& object) {
  const Event up = ObjectEvent(Upserted<T>{std::make_shared<const T>(object)});
  const Applied back = read_back(up);
  EXPECT_EQ(back.now, at(7));
  EXPECT_EQ(*std::get<Upserted<T>>(std::get<ObjectEvent>(back.event)).object, object);
  const Event down = ObjectEvent(Deleted<T>{std::make_shared<const T>(object)});
  EXPECT_EQ(*std::get<Deleted<T>>(std::get<ObjectEvent>(read_back(down).event)).object, object);
}

// Everything the wire form alone would lose.
api::PodSpec odd_spec() {
  api::PodSpec spec{.host_ports = {{.ip = "10.0.0.1", .protocol = "UDP", .port = 53}},
                    .scheduler_name = "muster",
                    .unsupported_placement_fields = {"spec.resourceClaims"},
                    .containers_hash = {~std::uint64_t{0}, 1},
                    .init_containers_hash = {2, 3}};
  return spec;
}

TEST(InputLog, EveryKindOfObjectComesBackExactly) {
  const TimePoint odd = at(5) + Duration(250);
  expect_exact(a_flavor("f").node_label("a", "b").taint("k", "v", "NoSchedule").created(odd).obj());
  expect_exact(a_cluster_queue("cq")
                   .cohort("c")
                   .quota("cpu", "f", "1500m", "2")
                   .condition(a_condition("Active", api::ConditionStatus::kFalse, "R", odd, "m"))
                   .obj());
  expect_exact(a_cohort("c").parent("p").quota("cpu", "f", "1").obj());
  expect_exact(a_local_queue("ns", "lq").cluster_queue("cq").stop(api::StopPolicy::kHold).obj());
  expect_exact(a_workload_priority_class("p", -3));
  expect_exact(a_namespace("ns").label("a", "b").deleted(odd).obj());
  expect_exact(a_node("n").allocatable("cpu", "8").taint("k", "", "NoExecute").obj());

  api::Workload workload = a_workload("ns", "w")
                               .queue("lq")
                               .pod_set("one")
                               .request("cpu", "1")
                               .pod_set("two", 4)
                               .admitted("cq", "f", odd)
                               .requeue_at(2, odd)
                               .check_state("c", api::CheckState::kRetry, odd)
                               .evicted("Preempted", odd);
  workload.pod_sets[0].pod_template.spec = odd_spec();
  workload.pod_sets[1].pod_template.spec.containers_hash = {7, 8};
  expect_exact(workload);
  api::Job job = a_job("ns", "j")
                     .queue("lq")
                     .suspended()
                     .request("cpu", "1")
                     .condition(a_condition("Suspended", api::ConditionStatus::kTrue, "R", odd));
  job.pod_template.spec.containers_hash = {9, 10};
  job.start_time = odd;
  expect_exact(job);
  api::Pod pod = a_pod("ns", "p").node("n").phase("Running");
  pod.spec = odd_spec();
  expect_exact(pod);

  api::PriorityClass priority{.value = 5, .global_default = true};
  priority.meta.name = "high";
  expect_exact(priority);
  api::RuntimeClass runtime{.overhead = {{"cpu", 250}}};
  runtime.meta.name = "gvisor";
  expect_exact(runtime);
  api::LimitRange range{.limits = {{.type = "Container", .default_request = {{"cpu", 100}}}}};
  range.meta.ns = "ns";
  expect_exact(range);
}

TEST(InputLog, EmptyObjectsComeBackExactly) {
  expect_exact(api::ResourceFlavor{});
  expect_exact(api::ClusterQueue{});
  expect_exact(api::Cohort{});
  expect_exact(api::LocalQueue{});
  expect_exact(api::WorkloadPriorityClass{});
  expect_exact(api::Workload{});
  expect_exact(api::Job{});
  expect_exact(api::Pod{});
  expect_exact(api::Node{});
  expect_exact(api::Namespace{});
  expect_exact(api::PriorityClass{});
  expect_exact(api::RuntimeClass{});
  expect_exact(api::LimitRange{});
}

TEST(InputLog, WhatTheContainersWereIsKept) {
  const auto json = api::parse_json(R"({"metadata": {"name": "p"}, "spec": {"containers": [
      {"name": "c", "image": "x", "env": [{"name": "A", "value": "1"}], "ports": [{"hostPort": 80}]}],
      "initContainers": [{"name": "side", "restartPolicy": "Always", "ports": [{"hostPort": 53, "protocol": "UDP"}]}],
      "topologySpreadConstraints": [{"maxSkew": 1}]}})");
  expect_exact(api::decode<api::Pod>(*json).value());
}

TEST(InputLog, OtherEventsComeBackExactly) {
  EXPECT_TRUE(std::holds_alternative<framework::Synced>(read_back(framework::Synced{}).event));
  EXPECT_TRUE(std::holds_alternative<framework::Tick>(read_back(framework::Tick{}).event));

  const auto workload = std::make_shared<const api::Workload>(a_workload("ns", "w").request("cpu", "1").obj());
  const auto done = std::get<framework::EffectDone>(
      read_back(framework::EffectDone{.id = 1ULL << 60, .workload = workload, .written_version = "77"}).event);
  EXPECT_EQ(done.id, 1ULL << 60);
  EXPECT_EQ(*done.workload, *workload);
  EXPECT_EQ(done.written_version, "77");
  EXPECT_EQ(std::get<framework::EffectDone>(read_back(framework::EffectDone{.id = 2}).event).workload, nullptr);

  const Error error{.code = ErrorCode::kConflict, .message = "m \xff\"", .path = "spec.x", .maybe_executed = true};
  const auto failed = std::get<framework::EffectFailed>(
      read_back(framework::EffectFailed{.id = 3, .error = error, .workload = workload}).event);
  EXPECT_EQ(failed.id, 3U);
  EXPECT_EQ(failed.error.code, ErrorCode::kConflict);
  EXPECT_EQ(failed.error.path, "spec.x");
  EXPECT_TRUE(failed.error.maybe_executed);
  EXPECT_EQ(*failed.workload, *workload);
}

TEST(InputLog, StartedAndSettledComeBack) {
  const Started started{
      .version = "1",
      .setup = {.configuration = "a: b\n", .profile = "p", .feature_gates = {{"G", true}}, .own_namespace = "ns"}};
  EXPECT_EQ(std::get<Started>(*parse_line(format_line(started))).setup, started.setup);
  const framework::Effects effects = {
      {.id = 4, .body = framework::BindPod{.pod = {.key = {"ns", "p"}}, .node = NodeName("n")}}};
  const auto line = std::get<Settled>(*parse_line(format_line(settled(at(1), 9, effects))));
  EXPECT_EQ(line.cycle, 9U);
  EXPECT_EQ(line.effects, std::vector<std::string>{"BindPod Workload ns/p to n"});
  EXPECT_EQ(line.hash, hash_of(effects));
}

TEST(InputLog, LinesThatAreNoLinesAreErrors) {
  for (const char* text :
       {"", "{}", "[]", "7", "{\"now\": 1}", "{\"now\": \"x\", \"apply\": {}}", "{\"started\": {}}",
        R"({"started": {"format": 99}})", R"({"apply": {"change": "upserted"}, "now": 1})",
        R"({"apply": {"change": "upserted", "kind": "Pod"}, "now": 1})",
        R"({"apply": {"change": "upserted", "kind": "Pod", "object": {}, "kept": {"podSpecs": []}}, "now": 1})",
        R"({"now": 1, "settle": {"cycle": -1}})"}) {
    EXPECT_FALSE(parse_line(text).ok()) << text;
  }
}

// ---- the hash tells effects apart ----

TEST(HashOf, SeesEveryMember) {
  using namespace framework;  // NOLINT(google-build-using-namespace)
  const ObjectRef ref{.kind = Kind::kJob, .key = {"ns", "j"}, .uid = Uid("u")};
  const EmitEvent told{.regarding = ref, .reason = "R"};
  const std::vector<std::pair<EffectBody, EffectBody>> pairs = {
      {CreateWorkload{.job = ref, .priority = 1}, CreateWorkload{.job = ref, .priority = 2}},
      {RewriteWorkload{.workload = ref}, RewriteWorkload{.workload = ref, .event = told}},
      {PatchWorkloadSpec{.workload = ref}, PatchWorkloadSpec{.workload = ref, .active = false}},
      {AdoptWorkload{.workload = ref}, AdoptWorkload{.workload = ref, .job = ref}},
      {PatchWorkloadStatus{.workload = ref}, PatchWorkloadStatus{.workload = ref, .events = {told}}},
      {PatchWorkloadStatus{.workload = ref, .resource_version = "1"},
       PatchWorkloadStatus{.workload = ref, .resource_version = "2"}},
      {PatchClusterQueueStatus{.queue = ref},
       PatchClusterQueueStatus{.queue = ref, .status = {.pending_workloads = 1}}},
      {PatchLocalQueueStatus{.queue = ref}, PatchLocalQueueStatus{.queue = ref, .status = {.pending_workloads = 1}}},
      {ChangeFinalizer{.object = ref, .finalizer = "a"}, ChangeFinalizer{.object = ref, .finalizer = "b"}},
      {DeleteObject{.object = ref}, DeleteObject{.object = ref, .event = told}},
      {StartJob{.job = ref, .pod_sets = {{.name = "a", .count = 1}}},
       StartJob{.job = ref, .pod_sets = {{.name = "a", .count = 2}}}},
      {StopJob{.job = ref, .message = "a"}, StopJob{.job = ref, .message = "b"}},
      {UngatePod{.pod = ref, .info = {.labels = {{"a", "b"}}}}, UngatePod{.pod = ref}},
      {BindPod{.pod = ref, .node = NodeName("a")}, BindPod{.pod = ref, .node = NodeName("b")}},
      {PatchPodCondition{.pod = ref, .condition = {.message = "a"}},
       PatchPodCondition{.pod = ref, .condition = {.message = "b"}}},
      {EmitEvent{.regarding = ref, .warning = true}, EmitEvent{.regarding = ref}},
  };
  for (const auto& [a, b] : pairs) {
    EXPECT_NE(hash_of({{.id = 1, .body = a}}), hash_of({{.id = 1, .body = b}})) << describe({.id = 1, .body = a});
    EXPECT_NE(hash_of({{.id = 1, .body = a}}), hash_of({{.id = 2, .body = a}}));
    EXPECT_EQ(hash_of({{.id = 1, .body = a}}), hash_of({{.id = 1, .body = a}}));
  }
}

}  // namespace
}  // namespace muster::cmd
