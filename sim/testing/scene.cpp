#include "sim/testing/scene.h"

#include "api/constants.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::sim::testing {

using api::Json;

namespace {

constexpr const char* kTeam = "team";

}  // namespace

Scene::Scene() {
  add("ResourceFlavor", {{"name", "default"}}, {{"spec", Json::object()}});
}

Scene& Scene::add(const char* kind, Json metadata, Json rest, Duration at) {
  rest["metadata"] = std::move(metadata);
  submissions_.push_back({.at = at, .kind = &kind_of(kind), .object = std::move(rest)});
  return *this;
}

Scene& Scene::nodes(int count, const std::string& cpu, const std::string& pool) {
  for (int i = 0; i < count; ++i) {
    const Json amounts = {{"cpu", cpu}, {"pods", "110"}};
    add("Node", {{"name", pool + "-" + std::to_string(i)}, {"labels", {{"pool", pool}}}},
        {{"status", {{"allocatable", amounts}, {"capacity", amounts}}}});
  }
  return *this;
}

Scene& Scene::queue(const SceneQueue& queue) {
  Json cpu = {{"name", "cpu"}, {"nominalQuota", queue.cpu}};
  if (!queue.borrowing_limit.empty()) {
    cpu["borrowingLimit"] = queue.borrowing_limit;
  }
  Json spec = {
      {"namespaceSelector", Json::object()},
      {"preemption", {{"withinClusterQueue", queue.within_queue}, {"reclaimWithinCohort", queue.within_cohort}}},
      {"resourceGroups",
       {{{"coveredResources", {"cpu"}}, {"flavors", {{{"name", "default"}, {"resources", Json::array({cpu})}}}}}}}};
  if (!queue.cohort.empty()) {
    spec["cohortName"] = queue.cohort;
  }
  if (queue.usage_based) {
    spec["admissionScope"] = {{"admissionMode", "UsageBasedAdmissionFairSharing"}};
  }
  add("ClusterQueue", {{"name", queue.name}}, {{"spec", std::move(spec)}});
  for (const std::string& local : queue.more_local_queues) {
    add("LocalQueue", {{"name", local}, {"namespace", kTeam}}, {{"spec", {{"clusterQueue", queue.name}}}});
  }
  return add("LocalQueue", {{"name", queue.name}, {"namespace", kTeam}}, {{"spec", {{"clusterQueue", queue.name}}}});
}

Scene& Scene::priority_class(const std::string& name, int value) {
  return add("WorkloadPriorityClass", {{"name", name}}, {{"value", value}});
}

Scene& Scene::job(const SceneJob& job) {
  Json labels = {{api::kQueueNameLabel, job.queue}};
  if (!job.priority_class.empty()) {
    labels[api::kPriorityClassLabel] = job.priority_class;
  }
  const Json container = {{"name", "main"}, {"resources", {{"requests", {{"cpu", job.cpu}}}}}};
  Json pod = {{"schedulerName", job.scheduler}, {"restartPolicy", "Never"}, {"containers", Json::array({container})}};
  if (!job.pool.empty()) {
    pod["nodeSelector"] = {{"pool", job.pool}};
  }
  return add("Job",
             {{"name", job.name},
              {"namespace", kTeam},
              {"labels", std::move(labels)},
              {"annotations", {{api::kRunTimeAnnotation, format_duration(job.runs_for)}}}},
             {{"spec", {{"parallelism", job.pods}, {"completions", job.pods}, {"template", {{"spec", pod}}}}}}, job.at);
}

}  // namespace muster::sim::testing
