#include "sim/node_model.h"

#include "api/codec/decode.h"
#include "api/constants.h"
#include "controllers/requests/json_edit.h"
#include "sim/durations.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::sim {

using api::Json;
using controllers::find_at;
using controllers::object_at;
using controllers::text_at;

namespace {

constexpr const char* kCpu = "cpu";
constexpr const char* kPods = "pods";

bool is_over(const Json& pod) {
  const std::string phase = text_at(pod, {"status", "phase"});
  return phase == "Succeeded" || phase == "Failed";
}

bool is_deleting(const Json& pod) {
  return find_at(pod, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool is_gated(const Json& pod) {
  const Json* gates = find_at(pod, {"spec", "schedulingGates"});
  return gates != nullptr && !gates->empty();
}

api::ResourceAmounts requests_of(const Json& pod) {
  const auto decoded = api::decode<api::Pod>(pod);
  api::ResourceAmounts requests = decoded.ok() ? api::pod_requests(decoded->spec) : api::ResourceAmounts{};
  requests[kPods] = 1;
  return requests;
}

bool is_kept_out(const api::Pod& pod, const api::Node& node) {
  if (!node.ready || node.unschedulable) {
    return true;
  }
  return std::any_of(node.taints.begin(), node.taints.end(), [&pod](const api::Taint& taint) {
    return taint.effect != "PreferNoSchedule" && !api::tolerates(pod.spec.tolerations, taint);
  });
}

bool is_wanted(const api::Pod& pod, const api::Node& node) {
  const auto& selector = pod.spec.node_selector;
  const bool selected = std::all_of(selector.begin(), selector.end(), [&node](const auto& wanted) {
    const std::string* label = api::find(node.meta.labels, wanted.first);
    return label != nullptr && *label == wanted.second;
  });
  const auto& required = pod.spec.node_affinity.required;
  return selected && (!required || std::any_of(required->begin(), required->end(), [&node](const auto& term) {
           return api::matches(term, node.meta.labels, node.meta.name);
         }));
}

}  // namespace

NodeModel::NodeModel(Timeline& timeline, ApiServer& server, Faults& faults, const NodeModelOptions& options)
    : timeline_(timeline), server_(server), faults_(faults), options_(options) {
  server.listen(*this);
}

void NodeModel::on_change(const Change& change) {
  if (change.kind == &kind_of("Node")) {
    on_node(change);
  } else if (change.kind == &kind_of("Pod")) {
    on_pod(change);
  }
}

void NodeModel::on_node(const Change& change) {
  nodes_.erase(change.key.name);
  if (change.after != nullptr) {
    if (auto node = api::decode<api::Node>(*change.after); node.ok()) {
      nodes_.emplace(change.key.name, *std::move(node));
    }
  }
  plan_scheduling();
}

void NodeModel::on_pod(const Change& change) {
  const Json* pod = change.after.get();
  account(change.key, pod);
  const Json& last = pod != nullptr ? *pod : *change.before;
  const std::string uid = text_at(last, {"metadata", "uid"});
  const std::pair order(text_at(last, {"metadata", "creationTimestamp"}), change.key);
  const bool bound = !text_at(last, {"spec", "nodeName"}).empty();
  const bool ours = text_at(last, {"spec", "schedulerName"}) == api::kSchedulerName;
  if (pod == nullptr || bound || is_over(*pod) || is_deleting(*pod)) {
    unbound_.erase(order);
  } else if (!ours && !is_gated(*pod) && !started_.contains({change.key, uid})) {
    unbound_.insert(order);
    plan_scheduling();
  }
  if (pod == nullptr || is_over(*pod)) {
    started_.erase({change.key, uid});
    plan_scheduling();
    return;
  }
  if (is_deleting(*pod)) {
    if (!is_deleting(*change.before)) {
      timeline_.after(options_.stop_delay + faults_.pod_delay(), [this, key = change.key, uid] {
        const Stored now = server_.find(kind_of("Pod"), key);
        if (now != nullptr && text_at(*now, {"metadata", "uid"}) == uid) {
          static_cast<void>(server_.remove(kind_of("Pod"), key, Grace::kForce));
        }
      });
    }
  } else if (bound && started_.insert({change.key, uid}).second) {
    timeline_.after(options_.start_delay + faults_.pod_delay(), [this, key = change.key, uid] { start_pod(key, uid); });
  }
}

// ---- scheduling ----

void NodeModel::account(const ObjectKey& key, const Json* pod) {
  const bool occupies = pod != nullptr && !is_over(*pod) && !text_at(*pod, {"spec", "nodeName"}).empty();
  const auto known = occupants_.find(key);
  if (known != occupants_.end() && !occupies) {
    for (const auto& [resource, amount] : known->second.requests) {
      used_[known->second.node][resource] -= amount;
    }
    occupants_.erase(known);
  } else if (known == occupants_.end() && occupies) {
    Occupant occupant{.node = text_at(*pod, {"spec", "nodeName"}), .requests = requests_of(*pod)};
    for (const auto& [resource, amount] : occupant.requests) {
      Amount& total = used_[occupant.node][resource];
      total = sat_add(total, amount);
    }
    occupants_.emplace(key, std::move(occupant));
  }
}

void NodeModel::plan_scheduling() {
  if (scheduling_planned_ || unbound_.empty()) {
    return;
  }
  scheduling_planned_ = true;
  timeline_.after(faults_.watch_delay(), [this] {
    scheduling_planned_ = false;
    schedule_all();
  });
}

void NodeModel::schedule_all() {
  const auto waiting = unbound_;
  for (const auto& [created, key] : waiting) {
    const Stored stored = server_.find(kind_of("Pod"), key);
    if (stored == nullptr) {
      continue;
    }
    const std::string uid = text_at(*stored, {"metadata", "uid"});
    if (nodes_.empty()) {
      unbound_.erase({created, key});
      started_.insert({key, uid});
      timeline_.after(options_.start_delay + faults_.pod_delay(), [this, pod = key, uid] { start_pod(pod, uid); });
      continue;
    }
    const auto pod = api::decode<api::Pod>(*stored);
    const std::optional<std::string> node = pod.ok() ? choose_node(*pod) : std::nullopt;
    if (node) {
      static_cast<void>(server_.bind(key, {{"target", {{"kind", "Node"}, {"name", *node}}}}));
    }
  }
}

std::optional<std::string> NodeModel::choose_node(const api::Pod& pod) const {
  api::ResourceAmounts requests = api::pod_requests(pod.spec);
  requests[kPods] = 1;
  std::optional<std::string> best;
  Amount most_free = 0;
  for (const auto& [name, node] : nodes_) {
    if (is_kept_out(pod, node) || !is_wanted(pod, node) || !fits(node, requests)) {
      continue;
    }
    const auto allocatable = node.allocatable.find(kCpu);
    const auto used = used_.find(name);
    Amount free = allocatable == node.allocatable.end() ? 0 : allocatable->second;
    if (used != used_.end() && used->second.contains(kCpu)) {
      free -= used->second.at(kCpu);
    }
    if (!best || free > most_free) {
      best = name;
      most_free = free;
    }
  }
  return best;
}

bool NodeModel::fits(const api::Node& node, const api::ResourceAmounts& requests) const {
  const auto used = used_.find(node.meta.name);
  return std::all_of(requests.begin(), requests.end(), [&](const auto& wanted) {
    const auto allocatable = node.allocatable.find(wanted.first);
    Amount free = allocatable == node.allocatable.end() ? 0 : allocatable->second;
    if (used != used_.end()) {
      const auto taken = used->second.find(wanted.first);
      free -= taken == used->second.end() ? 0 : taken->second;
    }
    return wanted.second == 0 || wanted.second <= free;
  });
}

// ---- running ----

void NodeModel::start_pod(const ObjectKey& key, const std::string& uid) {
  const Stored pod = server_.find(kind_of("Pod"), key);
  if (pod == nullptr || text_at(*pod, {"metadata", "uid"}) != uid || is_deleting(*pod) || is_over(*pod)) {
    return;
  }
  timeline_.after(run_time(key, *pod), [this, key, uid] { finish_pod(key, uid); });
  set_phase(key, *pod, "Running");
}

void NodeModel::finish_pod(const ObjectKey& key, const std::string& uid) {
  const Stored pod = server_.find(kind_of("Pod"), key);
  if (pod == nullptr || text_at(*pod, {"metadata", "uid"}) != uid || is_deleting(*pod)) {
    return;
  }
  set_phase(key, *pod, "Succeeded");
}

void NodeModel::set_phase(const ObjectKey& key, const Json& pod, const std::string& phase) {
  const std::string now = format_rfc3339(timeline_.now());
  Json next = pod;
  Json& status = object_at(next, {"status"});
  status["phase"] = phase;
  if (phase == "Running") {
    status["startTime"] = now;
  }
  status["conditions"] = Json::array(
      {{{"type", "PodScheduled"}, {"status", "True"}, {"lastTransitionTime", now}},
       {{"type", "Ready"}, {"status", phase == "Running" ? "True" : "False"}, {"lastTransitionTime", now}}});
  static_cast<void>(server_.update(kind_of("Pod"), key, std::move(next), Part::kStatus));
}

// Declared by the pod, else by its Job.
Duration NodeModel::run_time(const ObjectKey& key, const Json& pod) const {
  if (const auto own = duration_annotation(pod, api::kRunTimeAnnotation); own.ok() && own->has_value()) {
    return **own;
  }
  const Json* owners = find_at(pod, {"metadata", "ownerReferences"});
  for (std::size_t i = 0; owners != nullptr && i < owners->size(); ++i) {
    const Stored job = server_.find(kind_of("Job"), {key.ns, text_at((*owners)[i], {"name"})});
    if (text_at((*owners)[i], {"kind"}) == "Job" && job != nullptr) {
      const auto declared = duration_annotation(*job, api::kRunTimeAnnotation);
      return declared.ok() ? declared->value_or(options_.default_run_time) : options_.default_run_time;
    }
  }
  return options_.default_run_time;
}

}  // namespace muster::sim
