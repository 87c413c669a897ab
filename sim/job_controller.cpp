#include "sim/job_controller.h"

#include "controllers/requests/json_edit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::sim {

using api::Json;
using controllers::bool_at;
using controllers::find_at;
using controllers::has_true_condition;
using controllers::integer_at;
using controllers::object_at;
using controllers::text_at;

namespace {

constexpr const char* kIndexKey = "batch.kubernetes.io/job-completion-index";

bool is_indexed(const Json& job) {
  return text_at(job, {"spec", "completionMode"}) == "Indexed";
}

bool is_over(const Json& job) {
  return has_true_condition(job, "Complete") || has_true_condition(job, "Failed");
}

bool is_suspended(const Json& job) {
  return bool_at(job, {"spec", "suspend"}, false);
}

// How many pods should run now.
std::int64_t wanted_pods(const Json& job, std::int64_t succeeded) {
  if (is_suspended(job)) {
    return 0;
  }
  const std::int64_t parallelism = integer_at(job, {"spec", "parallelism"}, 1);
  const std::int64_t completions = integer_at(job, {"spec", "completions"}, -1);
  if (completions < 0) {
    return succeeded > 0 ? 0 : parallelism;  // a work queue: the first success ends the intake
  }
  return std::clamp<std::int64_t>(completions - succeeded, 0, parallelism);
}

bool is_done(const Json& job, std::int64_t succeeded) {
  const std::int64_t completions = integer_at(job, {"spec", "completions"}, -1);
  return completions < 0 ? succeeded > 0 : succeeded >= completions;
}

void set_condition(Json& job, const char* type, bool value, const char* reason, const std::string& now) {
  Json& conditions = object_at(job, {"status"})["conditions"];
  if (!conditions.is_array()) {
    conditions = Json::array();
  }
  const Json condition = {{"type", type},
                          {"status", value ? "True" : "False"},
                          {"reason", reason},
                          {"lastProbeTime", now},
                          {"lastTransitionTime", now}};
  const auto known = std::find_if(conditions.begin(), conditions.end(),
                                  [type](const Json& have) { return text_at(have, {"type"}) == type; });
  if (known == conditions.end()) {
    conditions.push_back(condition);
  } else if (text_at(*known, {"status"}) != text_at(condition, {"status"})) {
    *known = condition;
  }
}

}  // namespace

JobController::JobController(Timeline& timeline, ApiServer& server, Faults& faults)
    : timeline_(timeline), server_(server), faults_(faults) {
  server.listen(*this);
}

void JobController::on_change(const Change& change) {
  if (change.kind == &kind_of("Job")) {
    look_at(change.key);
    return;
  }
  if (change.kind != &kind_of("Pod")) {
    return;
  }
  const Json* owners = find_at(change.after ? *change.after : *change.before, {"metadata", "ownerReferences"});
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    if (text_at((*owners)[i], {"kind"}) == "Job") {
      look_at({change.key.ns, text_at((*owners)[i], {"name"})});
    }
  }
}

void JobController::look_at(const ObjectKey& job) {
  if (planned_.insert(job).second) {
    timeline_.after(faults_.watch_delay(), [this, job] {
      planned_.erase(job);
      sync(job);
    });
  }
}

void JobController::sync(const ObjectKey& key) {
  const Stored job = server_.find(kind_of("Job"), key);
  if (job == nullptr || find_at(*job, {"metadata", "deletionTimestamp"}) != nullptr || is_over(*job)) {
    return;
  }
  Tally counted = tally(*job);
  adjust_pods(*job, counted);
  write_status(key, *job, counted);
}

JobController::Tally JobController::tally(const Json& job) const {
  Tally result;
  const ResourceKind& pods = kind_of("Pod");
  for (const ObjectKey& key : server_.owned_by(text_at(job, {"metadata", "uid"}), pods)) {
    const Stored pod = server_.find(pods, key);
    const std::string phase = text_at(*pod, {"status", "phase"});
    const std::string index = text_at(*pod, {"metadata", "annotations", kIndexKey});
    if (phase == "Succeeded") {
      result.succeeded += 1;
      result.indexes.insert(index);
    } else if (phase == "Failed") {
      result.failed += 1;
    } else if (find_at(*pod, {"metadata", "deletionTimestamp"}) != nullptr) {
      result.terminating += 1;
    } else {
      result.active.push_back(key);
      result.indexes.insert(index);
      result.ready += has_true_condition(*pod, "Ready") ? 1 : 0;
    }
  }
  return result;
}

void JobController::adjust_pods(const Json& job, Tally& tally) {
  const auto wanted = static_cast<std::size_t>(wanted_pods(job, tally.succeeded));
  while (tally.active.size() < wanted) {
    create_pod(job, tally);
  }
  while (tally.active.size() > wanted) {
    const ObjectKey pod = tally.active.back();
    tally.active.pop_back();
    if (server_.remove(kind_of("Pod"), pod).ok() && server_.find(kind_of("Pod"), pod) != nullptr) {
      tally.terminating += 1;
    }
  }
}

void JobController::create_pod(const Json& job, Tally& tally) {
  const Json* pod_template = find_at(job, {"spec", "template"});
  Json pod = pod_template == nullptr ? Json::object() : *pod_template;
  const std::string ns = text_at(job, {"metadata", "namespace"});
  const std::string name = text_at(job, {"metadata", "name"});
  Json& metadata = object_at(pod, {"metadata"});
  metadata["namespace"] = ns;
  metadata["name"] = fmt::format("{}-{:05}", name, ++pods_created_);
  metadata["ownerReferences"] = Json::array({{{"apiVersion", "batch/v1"},
                                              {"kind", "Job"},
                                              {"name", name},
                                              {"uid", text_at(job, {"metadata", "uid"})},
                                              {"controller", true},
                                              {"blockOwnerDeletion", true}}});
  if (is_indexed(job)) {
    std::int64_t index = 0;
    while (tally.indexes.contains(std::to_string(index))) {
      ++index;
    }
    tally.indexes.insert(std::to_string(index));
    object_at(pod, {"metadata", "annotations"})[kIndexKey] = std::to_string(index);
    object_at(pod, {"metadata", "labels"})[kIndexKey] = std::to_string(index);
  }
  const ObjectKey key{ns, text_at(pod, {"metadata", "name"})};
  static_cast<void>(server_.create(kind_of("Pod"), std::move(pod)));
  tally.active.push_back(key);
}

void JobController::write_status(const ObjectKey& key, const Json& job, const Tally& tally) {
  const std::string now = format_rfc3339(timeline_.now());
  Json next = job;
  Json& status = object_at(next, {"status"});
  status["active"] = tally.active.size();
  status["ready"] = tally.ready;
  status["succeeded"] = tally.succeeded;
  status["failed"] = tally.failed;
  status["terminating"] = tally.terminating;
  if (is_suspended(job)) {
    set_condition(next, "Suspended", true, "JobSuspended", now);
  } else {
    const bool resumes = has_true_condition(job, "Suspended");
    if (resumes) {
      set_condition(next, "Suspended", false, "JobResumed", now);
    }
    if (resumes || find_at(status, {"startTime"}) == nullptr) {
      status["startTime"] = now;
    }
    if (is_done(job, tally.succeeded) && tally.active.empty()) {
      set_condition(next, "SuccessCriteriaMet", true, "CompletionsReached", now);
      set_condition(next, "Complete", true, "CompletionsReached", now);
      status["completionTime"] = now;
    }
  }
  const auto written = server_.update(kind_of("Job"), key, std::move(next), Part::kStatus);
  if (!written.ok()) {
    look_at(key);
  }
}

}  // namespace muster::sim
