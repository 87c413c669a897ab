#include "framework/status/cluster_queue_active.h"

#include <algorithm>
#include <set>
#include <vector>

namespace muster::framework {
namespace {

struct Violations {
  std::string reason{};  // of the first one
  std::string texts{};

  void add(std::string_view why, const std::string& text) {
    if (reason.empty()) {
      reason = why;
    }
    texts += (texts.empty() ? "" : ", ") + text;
  }
};

// `a,b`
std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ",") + name;
  }
  return text;
}

// Each flavor once, in the order of the spec.
std::vector<FlavorName> flavors_of(const api::ClusterQueue& queue) {
  std::vector<FlavorName> flavors;
  for (const api::ResourceGroup& group : queue.resource_groups) {
    for (const api::FlavorQuotas& flavor : group.flavors) {
      if (std::find(flavors.begin(), flavors.end(), flavor.name) == flavors.end()) {
        flavors.push_back(flavor.name);
      }
    }
  }
  return flavors;
}

void check_flavors(const api::ClusterQueue& queue, const Objects& objects, Violations& violations) {
  std::vector<std::string> missing;
  for (const FlavorName& flavor : flavors_of(queue)) {
    if (objects.all<api::ResourceFlavor>().find(flavor.str()) == nullptr) {
      missing.push_back(flavor.str());
    }
  }
  if (!missing.empty()) {
    violations.add("FlavorNotFound", "references missing ResourceFlavor(s): " + joined(missing));
  }
}

void check_admission_checks(const api::ClusterQueue& queue, Violations& violations) {
  std::set<std::string> names;
  for (const api::AdmissionCheckRule& rule : queue.admission_checks) {
    names.insert(rule.name);
  }
  if (!names.empty()) {
    violations.add("AdmissionCheckNotFound",
                   "references missing AdmissionCheck(s): " + joined({names.begin(), names.end()}));
  }
}

void check_topologies(const api::ClusterQueue& queue, const Objects& objects, Violations& violations) {
  std::vector<FlavorName> flavors = flavors_of(queue);
  std::sort(flavors.begin(), flavors.end());
  for (const FlavorName& name : flavors) {
    const api::ResourceFlavor* flavor = objects.all<api::ResourceFlavor>().find(name.str());
    if (flavor != nullptr && !flavor->topology_name.empty()) {
      violations.add("TopologyNotFound",
                     "there is no Topology \"" + flavor->topology_name + "\" for TAS flavor \"" + name.str() + "\"");
    }
  }
}

}  // namespace

Activity cluster_queue_activity(const Model& model, const ClusterQueueName& name) {
  const Objects& objects = model.objects();
  const api::ClusterQueue* queue = objects.all<api::ClusterQueue>().find(name.str());
  if (queue == nullptr) {
    return {.reason = "NotFound", .message = "ClusterQueue not found"};
  }
  if (queue->meta.deletion_timestamp) {
    return {.reason = "Terminating", .message = "Can't admit new workloads; clusterQueue is terminating"};
  }
  Violations violations;
  if (queue->stop_policy != api::StopPolicy::kNone) {
    violations.add("Stopped", "is stopped");
  }
  check_flavors(*queue, objects, violations);
  check_admission_checks(*queue, violations);
  check_topologies(*queue, objects, violations);
  if (!violations.reason.empty()) {
    return {.reason = violations.reason, .message = "Can't admit new workloads: " + violations.texts + "."};
  }
  if (model.quota().in_cycle(name)) {
    return {.reason = "Unknown", .message = "Can't admit new workloads."};
  }
  return {.active = true, .reason = "Ready", .message = "Can admit new workloads"};
}

}  // namespace muster::framework
