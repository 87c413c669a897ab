#include "sim/reference/world.h"

namespace muster::sim::reference {
namespace {

const char* yes_no(bool value, const char* yes, const char* no) {
  return value ? yes : no;
}

std::string head(const std::string& version, const std::string& kind, const std::string& name, bool namespaced) {
  return "---\napiVersion: " + version + "\nkind: " + kind + "\nmetadata:\n  name: " + name + "\n" +
         (namespaced ? "  namespace: team\n" : "");
}

std::string groups_text(const std::vector<GroupDef>& groups) {
  std::string text = groups.empty() ? "" : "  resourceGroups:\n";
  for (const GroupDef& group : groups) {
    text += "  - coveredResources: [";
    for (std::size_t i = 0; i < group.resources.size(); ++i) {
      text += std::string(i == 0 ? "" : ", ") + resource_name(group.resources[i]);
    }
    text += "]\n    flavors:\n";
    for (const FlavorQuotas& quotas : group.flavors) {
      text += "    - name: " + flavor_name(quotas.flavor) + "\n      resources:\n";
      for (const int resource : group.resources) {
        const Quota& quota = quotas.quota[static_cast<std::size_t>(resource)];
        text += std::string("      - {name: ") + resource_name(resource) + ", nominalQuota: \"" +
                amount_text(resource, quota.nominal) + "\"";
        text += quota.borrow ? ", borrowingLimit: \"" + amount_text(resource, *quota.borrow) + "\"" : "";
        text += quota.lend ? ", lendingLimit: \"" + amount_text(resource, *quota.lend) + "\"" : "";
        text += "}\n";
      }
    }
  }
  return text;
}

std::string weight_text(Units weight) {
  return weight == 1000 ? "" : "  fairSharing: {weight: \"" + std::to_string(weight) + "m\"}\n";
}

std::string queue_text(const World& world, std::size_t index) {
  constexpr const char* kWithin[] = {"Never", "LowerPriority", "LowerOrNewerEqualPriority"};
  constexpr const char* kReclaim[] = {"Never", "LowerPriority", "Any"};
  const QueueDef& queue = world.queues[index];
  const std::string name = queue_name(static_cast<int>(index));
  std::string text = head("kueue.x-k8s.io/v1beta2", "ClusterQueue", name, false) + "spec:\n";
  text += queue.cohort < 0 ? "" : "  cohortName: " + cohort_name(queue.cohort) + "\n";
  text += std::string("  queueingStrategy: ") + yes_no(queue.strict, "StrictFIFO", "BestEffortFIFO") +
          "\n  namespaceSelector: {}\n  flavorFungibility:\n    whenCanBorrow: " +
          yes_no(queue.borrow_next, "TryNextFlavor", "MayStopSearch") +
          "\n    whenCanPreempt: " + yes_no(queue.preempt_next, "TryNextFlavor", "MayStopSearch") + "\n";
  text += yes_no(queue.prefer_preemption, "    preference: PreemptionOverBorrowing\n", "");
  text += std::string("  preemption:\n    withinClusterQueue: ") + kWithin[static_cast<int>(queue.within)] +
          "\n    reclaimWithinCohort: " + kReclaim[static_cast<int>(queue.reclaim)] + "\n";
  if (queue.borrow_while_preempting) {
    text += "    borrowWithinCohort:\n      policy: LowerPriority\n";
    text += queue.threshold ? "      maxPriorityThreshold: " + std::to_string(*queue.threshold) + "\n" : "";
  }
  return text + weight_text(queue.weight) + groups_text(queue.groups) + head("kueue.x-k8s.io/v1beta2", "LocalQueue", name, true) +
         "spec:\n  clusterQueue: " + name + "\n";
}

std::string flavor_text(const World& world, std::size_t index) {
  const FlavorDef& flavor = world.flavors[index];
  std::string text = head("kueue.x-k8s.io/v1beta2", "ResourceFlavor", flavor_name(static_cast<int>(index)), false);
  if (flavor.pool < 0 && !flavor.tainted) {
    return text;
  }
  text += "spec:\n";
  text += flavor.pool < 0 ? "" : "  nodeLabels: {pool: \"" + std::to_string(flavor.pool) + "\"}\n";
  return text + yes_no(flavor.tainted, "  nodeTaints: [{key: key, value: val, effect: NoSchedule}]\n", "");
}

std::string class_name(int priority) {
  return priority < 0 ? "minus-" + std::to_string(-priority) : "plus-" + std::to_string(priority);
}

std::string requests_text(const PodSetDef& pod_set) {
  std::string text;
  for (int resource = 0; resource < kResources; ++resource) {
    if (const auto& amount = pod_set.request[static_cast<std::size_t>(resource)]) {
      text += std::string(text.empty() ? "" : ", ") + resource_name(resource) + ": \"" +
              amount_text(resource, *amount) + "\"";
    }
  }
  return "{" + text + "}";
}

std::string pod_text(const PodSetDef& pod_set) {
  std::string text = "  parallelism: " + std::to_string(pod_set.count) +
                     "\n  completions: " + std::to_string(pod_set.count) +
                     "\n  suspend: true\n  template:\n    spec:\n      restartPolicy: Never\n";
  text += pod_set.pool < 0 ? "" : "      nodeSelector: {pool: \"" + std::to_string(pod_set.pool) + "\"}\n";
  text += yes_no(pod_set.tolerates, "      tolerations: [{key: key, operator: Exists}]\n", "");
  return text + "      containers:\n      - name: c\n        image: pause\n        resources:\n          requests: " +
         requests_text(pod_set) + "\n";
}

// The creation time is the submission: within a phase the earlier one comes first.
std::string workload_text(const WorkloadDef& def, int index) {
  std::string text = "---\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: " + workload_name(index) +
                     "\n  namespace: team\n  labels:\n    kueue.x-k8s.io/queue-name: " + queue_name(def.queue) +
                     "\n    kueue.x-k8s.io/priority-class: " + class_name(def.priority) + "\n  annotations:\n";
  if (const int least = def.pod_sets.front().min_count; least > 0) {
    text += "    kueue.x-k8s.io/job-min-parallelism: \"" + std::to_string(least) + "\"\n";
  }
  text += "    muster.x-k8s.io/submit-time: " + std::to_string(100 * def.arrives + def.created) + "s\n";
  const int runs = def.finishes < 0 ? 10000 : 100 * (def.finishes - def.arrives);
  text += "    muster.x-k8s.io/run-time: " + std::to_string(runs) + "s\nspec:\n" + pod_text(def.pod_sets.front());
  for (std::size_t i = 1; i < def.pod_sets.size(); ++i) {
    const PodSetDef& more = def.pod_sets[i];
    text += "# and, which a Job cannot have, podset " + pod_set_name(i) + ": " + std::to_string(more.count) +
            " pods" + (more.min_count > 0 ? " (at least " + std::to_string(more.min_count) + "), " : ", ") +
            requests_text(more) + (more.pool < 0 ? "" : ", pool " + std::to_string(more.pool)) +
            yes_no(more.tolerates, ", tolerates\n", "\n");
  }
  return text;
}

}  // namespace

std::string to_yaml(const World& world) {
  constexpr const char* kStrategies[] = {"", "LessThanOrEqualToFinalShare, LessThanInitialShare",
                                         "LessThanOrEqualToFinalShare", "LessThanInitialShare"};
  std::string text = "# seed " + std::to_string(world.seed) + "\n";
  if (world.fair != FairSharing::kOff) {
    text += std::string("# configuration: fairSharing: {preemptionStrategies: [") +
            kStrategies[static_cast<int>(world.fair)] + "]}\n";
  }
  for (int priority = -1; priority <= 2; ++priority) {
    text += head("kueue.x-k8s.io/v1beta2", "WorkloadPriorityClass", class_name(priority), false) +
            "value: " + std::to_string(priority) + "\n";
  }
  for (std::size_t i = 0; i < world.flavors.size(); ++i) {
    text += world.flavors[i].exists ? flavor_text(world, i) : "";
  }
  for (std::size_t i = 0; i < world.cohorts.size(); ++i) {
    const CohortDef& cohort = world.cohorts[i];
    if (cohort.object) {
      text += head("kueue.x-k8s.io/v1beta2", "Cohort", cohort_name(static_cast<int>(i)), false) + "spec:\n" +
              (cohort.parent < 0 ? "" : "  parentName: " + cohort_name(cohort.parent) + "\n") +
              weight_text(cohort.weight) + groups_text(cohort.groups) +
              (cohort.parent < 0 && cohort.groups.empty() && cohort.weight == 1000 ? "  {}\n" : "");
    }
  }
  for (std::size_t i = 0; i < world.queues.size(); ++i) {
    text += queue_text(world, i);
  }
  for (std::size_t i = 0; i < world.workloads.size(); ++i) {
    text += workload_text(world.workloads[i], static_cast<int>(i));
  }
  for (const QuotaChange& change : world.changes) {
    const GroupDef& group =
        world.queues[static_cast<std::size_t>(change.queue)].groups[static_cast<std::size_t>(change.group)];
    text += "# in phase " + std::to_string(change.phase) + " " + queue_name(change.queue) + " gets " +
            amount_text(change.resource, change.nominal) + " " + resource_name(change.resource) + " of " +
            flavor_name(group.flavors[static_cast<std::size_t>(change.flavor)].flavor) + "\n";
  }
  return text;
}

}  // namespace muster::sim::reference
