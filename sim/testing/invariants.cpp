#include "sim/testing/invariants.h"

#include "api/codec/decode.h"
#include "controllers/requests/json_edit.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::sim::testing {
namespace {

using Key = std::pair<std::string, std::string>;  // flavor, resource
using Amounts = std::map<Key, Amount>;

template <class T>
std::vector<T> decoded(const ApiServer& server, const char* kind) {
  std::vector<T> objects;
  for (const auto& [key, object] : server.all(kind_of(kind))) {
    objects.push_back(*api::decode<T>(*object));
  }
  return objects;
}

bool has_live_pods(const ApiServer& server, const Uid& job) {
  const ResourceKind& pods = kind_of("Pod");
  const std::vector<ObjectKey> keys = server.owned_by(job.str(), pods);
  return std::any_of(keys.begin(), keys.end(), [&](const ObjectKey& key) {
    const std::string phase = controllers::text_at(*server.find(pods, key), {"status", "phase"});
    return phase != "Succeeded" && phase != "Failed";
  });
}

// Has pods, or may get some. What was evicted and has stopped, or has finished, is over for the manager as soon as it
// sees it; that its Workload says so as well is a write that may still be on its way.
bool may_run(const ApiServer& server, const api::Workload& workload) {
  const api::OwnerReference* owner = api::controller_of(workload.meta);
  const Stored job = owner == nullptr ? nullptr : server.find(kind_of("Job"), {workload.meta.ns, owner->name});
  if (job == nullptr) {
    return false;
  }
  if (has_live_pods(server, owner->uid)) {
    return true;
  }
  const bool over = controllers::has_true_condition(*job, "Complete");
  const bool stopped = api::is_evicted(workload) && controllers::bool_at(*job, {"spec", "suspend"}, false);
  return !over && !stopped;
}

std::map<std::string, Amounts> reserved_by_queue(const ApiServer& server) {
  std::map<std::string, Amounts> reserved;
  for (const auto& workload : decoded<api::Workload>(server, "Workload")) {
    if (!api::has_quota_reservation(workload) || api::is_finished(workload) || !workload.status.admission ||
        !may_run(server, workload)) {
      continue;
    }
    const api::Admission& admission = *workload.status.admission;
    for (const api::PodSetAssignment& pods : admission.pod_set_assignments) {
      for (const auto& [resource, flavor] : pods.flavors) {
        const auto amount = pods.resource_usage.find(resource);
        // Pods that are over may have been reclaimed: only a Workload that runs whole can be judged from outside.
        if (amount != pods.resource_usage.end() && workload.status.reclaimable_pods.empty()) {
          reserved[admission.cluster_queue.str()][{flavor.str(), resource}] += amount->second;
        }
      }
    }
  }
  return reserved;
}

template <class Add>
void for_each_quota(const std::vector<api::ResourceGroup>& groups, Add add) {
  for (const api::ResourceGroup& group : groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      for (const api::ResourceQuota& quota : flavor.resources) {
        add(Key{flavor.name.str(), quota.resource}, quota);
      }
    }
  }
}

// The root above a Cohort; a cycle ends where it began.
std::string root_of(std::string cohort, const std::map<std::string, std::string>& parents) {
  for (std::size_t steps = 0; steps < parents.size(); ++steps) {
    const auto parent = parents.find(cohort);
    if (parent == parents.end() || parent->second.empty()) {
      break;
    }
    cohort = parent->second;
  }
  return cohort;
}

// No tree of cohorts has more reserved than all of its members have together, no queue more than it may borrow.
void check_quota(const ApiServer& server, std::vector<std::string>& out) {
  const auto reserved = reserved_by_queue(server);
  const auto cohorts = decoded<api::Cohort>(server, "Cohort");
  std::map<std::string, std::string> parents;
  for (const api::Cohort& cohort : cohorts) {
    parents[cohort.meta.name] = cohort.parent.str();
  }
  std::map<std::string, Amounts> tree_nominal;
  std::map<std::string, Amounts> tree_reserved;
  for (const api::Cohort& cohort : cohorts) {
    Amounts& nominal = tree_nominal[root_of(cohort.meta.name, parents)];
    for_each_quota(cohort.resource_groups, [&](const Key& key, const api::ResourceQuota& quota) {
      nominal[key] = sat_add(nominal[key], quota.nominal);
    });
  }
  for (const auto& queue : decoded<api::ClusterQueue>(server, "ClusterQueue")) {
    const auto used = reserved.find(queue.meta.name);
    const std::string root = root_of(queue.cohort.str(), parents);
    for_each_quota(queue.resource_groups, [&](const Key& key, const api::ResourceQuota& quota) {
      const Amount have = used == reserved.end() || !used->second.contains(key) ? 0 : used->second.at(key);
      tree_nominal[root][key] = sat_add(tree_nominal[root][key], quota.nominal);
      tree_reserved[root][key] = sat_add(tree_reserved[root][key], have);
      const bool bounded = queue.cohort.empty() || quota.borrowing_limit.has_value();
      if (bounded && have > sat_add(quota.nominal, quota.borrowing_limit.value_or(0))) {
        out.push_back(fmt::format("ClusterQueue {}: {} of {} reserved, quota {}", queue.meta.name, have, quota.resource,
                                  quota.nominal));
      }
    });
  }
  for (const auto& [root, amounts] : tree_reserved) {
    for (const auto& [key, have] : amounts) {
      if (!root.empty() && have > tree_nominal[root][key]) {
        out.push_back(fmt::format("Cohort {}: {} of {} reserved, quota {}", root, have, key.second, tree_nominal[root][key]));
      }
    }
  }
}

void check_nodes(const ApiServer& server, std::vector<std::string>& out) {
  std::map<std::string, api::ResourceAmounts> used;
  for (const auto& pod : decoded<api::Pod>(server, "Pod")) {
    if (pod.spec.node_name.empty() || api::is_terminal(pod)) {
      continue;
    }
    for (const auto& [resource, amount] : api::pod_requests(pod.spec)) {
      used[pod.spec.node_name][resource] += amount;
    }
  }
  for (const auto& node : decoded<api::Node>(server, "Node")) {
    for (const auto& [resource, amount] : used[node.meta.name]) {
      const auto offered = node.allocatable.find(resource);
      if (offered == node.allocatable.end() || amount > offered->second) {
        out.push_back(fmt::format("Node {}: {} of {} taken", node.meta.name, amount, resource));
      }
    }
  }
}

}  // namespace

std::vector<std::string> violations(const Simulator& simulator) {
  std::vector<std::string> out;
  check_quota(simulator.server(), out);
  check_nodes(simulator.server(), out);
  if (simulator.manager().running()) {
    for (std::string& difference : simulator.manager().core().model().audit()) {
      out.push_back("ledger: " + std::move(difference));
    }
  }
  for (const std::string& trouble : simulator.manager().undecodable()) {
    out.push_back("undecodable: " + trouble);
  }
  return out;
}

// Reads the JSON alone: this is asked after every step.
std::map<ObjectKey, int> bound_pods(const Simulator& simulator) {
  std::map<ObjectKey, int> bound;
  for (const auto& [key, pod] : simulator.server().all(kind_of("Pod"))) {
    const std::string phase = controllers::text_at(*pod, {"status", "phase"});
    const bool over = phase == "Succeeded" || phase == "Failed";
    const api::Json* owners = controllers::find_at(*pod, {"metadata", "ownerReferences"});
    if (!over && owners != nullptr && !controllers::text_at(*pod, {"spec", "nodeName"}).empty()) {
      bound[{key.ns, controllers::text_at(owners->front(), {"name"})}] += 1;
    }
  }
  return bound;
}

}  // namespace muster::sim::testing
