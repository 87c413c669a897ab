#include "sim/recorder.h"

#include "api/codec/decode.h"
#include "api/constants.h"
#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

namespace muster::sim {

using api::Json;
using controllers::find_at;
using controllers::has_true_condition;
using controllers::text_at;

namespace {

const Json& last_of(const Change& change) {
  return change.after != nullptr ? *change.after : *change.before;
}

bool became_true(const Change& change, std::string_view type) {
  return change.after != nullptr && has_true_condition(*change.after, type) &&
         (change.before == nullptr || !has_true_condition(*change.before, type));
}

bool was_true(const Change& change, std::string_view type) {
  return change.before != nullptr && has_true_condition(*change.before, type);
}

std::string condition_reason(const Json& object, std::string_view type) {
  const Json* conditions = find_at(object, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (text_at((*conditions)[i], {"type"}) == type) {
      return text_at((*conditions)[i], {"reason"});
    }
  }
  return {};
}

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void add_use(std::map<std::string, double>& used, const api::ResourceAmounts& requests, Duration time) {
  for (const auto& [resource, amount] : requests) {
    used[resource] += static_cast<double>(amount) * seconds(time);
  }
}

Attempt* open_attempt(JobRecord& job) {
  return job.attempts.empty() || job.attempts.back().ended ? nullptr : &job.attempts.back();
}

}  // namespace

void Recorder::on_change(const Change& change) {
  if (change.kind == &kind_of("Job")) {
    on_job(change);
  } else if (change.kind == &kind_of("Workload")) {
    on_workload(change);
  } else if (change.kind == &kind_of("Pod")) {
    on_pod(change);
  } else {
    return;
  }
  last_change_ = change.at;
}

void Recorder::on_job(const Change& change) {
  const auto [entry, fresh] = jobs_.try_emplace(change.key);
  JobRecord& job = entry->second;
  if (fresh) {
    job.key = change.key;
    job.queue = text_at(last_of(change), {"metadata", "labels", api::kQueueNameLabel});
    job.submitted = change.at;
    open_jobs_ += 1;
  }
  const bool failed = became_true(change, "Failed");
  const bool over = failed || became_true(change, "Complete") || change.after == nullptr;
  if (!over || job.finished) {
    return;
  }
  job.finished = change.at;
  last_finished_ = change.at;
  job.failed = failed || change.after == nullptr;
  open_jobs_ -= 1;
  if (Attempt* attempt = open_attempt(job)) {
    attempt->ended = change.at;
  }
}

JobRecord* Recorder::owner_of(const Change& change) {
  const Json* owners = find_at(last_of(change), {"metadata", "ownerReferences"});
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    if (text_at((*owners)[i], {"kind"}) == "Job") {
      const auto job = jobs_.find({change.key.ns, text_at((*owners)[i], {"name"})});
      return job == jobs_.end() ? nullptr : &job->second;
    }
  }
  return nullptr;
}

void Recorder::on_workload(const Change& change) {
  JobRecord* job = owner_of(change);
  if (job == nullptr) {
    return;
  }
  job->workload = change.after != nullptr ? change.key.name : std::string();
  if (became_true(change, api::kAdmitted) && !job->finished) {
    job->attempts.push_back({.admitted = change.at});
  }
  Attempt* attempt = open_attempt(*job);
  if (attempt == nullptr) {
    return;
  }
  if (became_true(change, api::kEvicted)) {
    attempt->evicted = condition_reason(*change.after, api::kEvicted);
  }
  const bool lost = was_true(change, api::kAdmitted) &&
                    (change.after == nullptr || !has_true_condition(*change.after, api::kAdmitted));
  if (lost) {
    attempt->ended = change.at;
  }
}

void Recorder::on_pod(const Change& change) {
  JobRecord* job = owner_of(change);
  const std::string node = text_at(last_of(change), {"spec", "nodeName"});
  if (job != nullptr && !node.empty() && change.after != nullptr) {
    if (Attempt* attempt = open_attempt(*job)) {
      attempt->nodes.insert(node);
    }
  }
  on_pod_phase(change, job);
}

void Recorder::on_pod_phase(const Change& change, JobRecord* job) {
  const bool runs = change.after != nullptr && text_at(*change.after, {"status", "phase"}) == "Running";
  const auto known = running_.find(change.key);
  if (runs && known == running_.end()) {
    const auto pod = api::decode<api::Pod>(*change.after);
    running_[change.key] = {.since = change.at,
                            .requests = pod.ok() ? api::pod_requests(pod->spec) : api::ResourceAmounts{}};
    if (job == nullptr) {
      return;
    }
    if (job->queue.empty() && job->attempts.empty()) {
      job->attempts.push_back({.admitted = job->submitted});
    }
    Attempt* attempt = open_attempt(*job);
    if (attempt != nullptr && !attempt->started) {
      attempt->started = change.at;
    }
  } else if (!runs && known != running_.end()) {
    add_use(used_, known->second.requests, change.at - known->second.since);
    running_.erase(known);
  }
}

std::map<std::string, double> Recorder::used_until(TimePoint now) const {
  std::map<std::string, double> used = used_;
  for (const auto& [pod, running] : running_) {
    add_use(used, running.requests, now - running.since);
  }
  return used;
}

}  // namespace muster::sim
