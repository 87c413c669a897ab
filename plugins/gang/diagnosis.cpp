#include "plugins/gang/diagnosis.h"

#include "plugins/gang/node_judge.h"
#include "plugins/gang/trial_slots.h"

#include <algorithm>
#include <map>
#include <string_view>

namespace muster::plugins::gang {
namespace {

using framework::Code;
using framework::NodeId;
using framework::PlacementPlan;
using framework::Verdict;

constexpr std::string_view kInsufficient = "Insufficient ";
constexpr std::string_view kSeparator = ", ";

using Counts = std::map<std::string, int>;

// A node's message lists its reasons (spec/placement.md §1.1); each counts.
void count_reasons(const std::string& message, Counts& counts) {
  std::size_t start = 0;
  for (std::size_t end = 0; end != std::string::npos; start = end + kSeparator.size()) {
    end = message.find(kSeparator, start);
    ++counts[message.substr(start, end == std::string::npos ? end : end - start)];
  }
}

std::string joined(std::vector<std::string> parts) {
  std::string text;
  for (std::string& part : parts) {
    text += text.empty() ? std::move(part) : std::string(kSeparator) + part;
  }
  return text;
}

// Sorted as strings, `10 x` before `9 y`, as kube-scheduler prints them.
std::string text_of(const Counts& counts) {
  std::vector<std::string> parts;
  for (const auto& [reason, nodes] : counts) {
    parts.push_back(std::to_string(nodes) + " " + reason);
  }
  std::sort(parts.begin(), parts.end());
  return joined(std::move(parts));
}

std::string lacking_resource(const Counts& counts) {
  const std::pair<const std::string, int>* most = nullptr;
  for (const auto& entry : counts) {
    if (entry.first.starts_with(kInsufficient) && (most == nullptr || entry.second > most->second)) {
      most = &entry;
    }
  }
  return most == nullptr ? std::string{} : most->first.substr(kInsufficient.size());
}

std::size_t largest_deficit(const std::vector<GangPodSet>& pod_sets, const Placement& placement) {
  std::size_t worst = 0;
  for (std::size_t i = 1; i < pod_sets.size(); ++i) {
    if (pod_sets[i].count - placement.fit[i] > pod_sets[worst].count - placement.fit[worst]) {
      worst = i;
    }
  }
  return worst;
}

// `3 of 4 pods fit (main: 3/4)`.
std::string fit_text(const std::vector<GangPodSet>& pod_sets, const Placement& placement) {
  std::int64_t fit = 0;
  std::int64_t needed = 0;
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    fit += placement.fit[i];
    needed += pod_sets[i].count;
    parts.push_back(pod_sets[i].name + ": " + std::to_string(placement.fit[i]) + "/" +
                    std::to_string(pod_sets[i].count));
  }
  return std::to_string(fit) + " of " + std::to_string(needed) + " pods fit (" + joined(std::move(parts)) + ")";
}

std::map<NodeName, Amount> pods_by_node(const PlacementPlan& plan) {
  std::map<NodeName, Amount> pods;
  for (const framework::PodSetPlan& pod_set : plan) {
    for (const framework::NodeSlots& slots : pod_set.slots) {
      pods[slots.node] += slots.count;
    }
  }
  return pods;
}

}  // namespace

Diagnosis diagnose(const ObjectKey& workload, const std::vector<GangPodSet>& pod_sets, const Placement& placement,
                   framework::Transaction& transaction, const framework::NodePlugins& plugins) {
  const framework::NodeTable& nodes = transaction.model().nodes();
  const NodeJudge judge(plugins, nodes);
  Diagnosis result{.pod_set = largest_deficit(pod_sets, placement)};
  if (nodes.size() == 0) {
    result.message = "no nodes available to schedule pods";
    return result;
  }
  TrialSlots trial(transaction);
  for (const framework::PodSetPlan& plan : placement.plan) {
    trial.add(plan);
  }
  const framework::PodShape& shape = pod_sets[result.pod_set].shape;
  const Verdict all_nodes = judge.pre_filter(shape);
  const std::map<NodeName, Amount> own = pods_by_node(placement.plan);
  Counts counts;
  for (const NodeId id : nodes.ids()) {
    if (!all_nodes.ok()) {
      break;
    }
    Verdict verdict = judge.filter(shape, id);
    if (verdict.ok()) {
      verdict = judge.capacity(shape, id, 1).second;
      if (!result.preemption_helps && verdict.code() == Code::kUnschedulable) {
        const auto it = own.find(nodes.name(id));
        result.preemption_helps = nodes.used(id, "pods") > (it == own.end() ? 0 : it->second);
      }
    }
    if (!verdict.ok()) {
      count_reasons(verdict.message(), counts);
    }
  }
  result.lacking_resource = lacking_resource(counts);
  result.message = "0/" + std::to_string(nodes.size()) + " nodes are available for pod group \"" + to_string(workload) +
                   "\": " + fit_text(pod_sets, placement) + ": " +
                   (all_nodes.ok() ? text_of(counts) : all_nodes.message()) + ".";
  if (!placement.proved) {
    result.message += " The search was bounded, another arrangement may exist.";
  }
  return result;
}

}  // namespace muster::plugins::gang
