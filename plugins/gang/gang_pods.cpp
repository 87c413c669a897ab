#include "plugins/gang/gang_pods.h"

#include "api/constants.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace muster::plugins::gang {
namespace {

constexpr char kCompletionIndex[] = "batch.kubernetes.io/job-completion-index";

// Pods without an index come last.
std::int64_t index_of(const api::Pod& pod) {
  const std::string* text = api::find(pod.meta.labels, kCompletionIndex);
  if (text == nullptr) {
    text = api::find(pod.meta.annotations, kCompletionIndex);
  }
  std::int64_t index = 0;
  if (text == nullptr || std::from_chars(text->data(), text->data() + text->size(), index).ec != std::errc{}) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return index;
}

bool goes_before(const api::Pod* a, const api::Pod* b) {
  const std::int64_t index_a = index_of(*a);
  const std::int64_t index_b = index_of(*b);
  return index_a != index_b ? index_a < index_b : a->meta.name < b->meta.name;
}

void count(const api::Pod& pod, PodSetPods& pods) {
  if (api::is_terminal(pod)) {
    return;
  }
  const bool leaves = pod.meta.deletion_timestamp.has_value();
  if (!pod.spec.node_name.empty()) {
    ++pods.bound[NodeName(pod.spec.node_name)];
    pods.running += leaves ? 0 : 1;
  } else if (!leaves && pod.spec.scheduler_name == api::kSchedulerName) {
    if (pod.spec.scheduling_gates.empty()) {
      pods.waiting.push_back(&pod);
    } else {
      ++pods.gated;
    }
  }
}

}  // namespace

std::int32_t PodSetPods::occupied() const {
  std::int32_t sum = 0;
  for (const auto& [node, pods] : bound) {
    sum += pods;
  }
  return sum;
}

std::int32_t PodSetPods::open() const {
  return std::max(0, needed - occupied());
}

std::vector<PodSetPods> pods_of_gang(const api::Workload& workload, const std::vector<GangPodSet>& pod_sets,
                                     const framework::Model& model) {
  std::vector<PodSetPods> result;
  for (const GangPodSet& pod_set : pod_sets) {
    result.push_back({.name = pod_set.name, .needed = pod_set.count});
  }
  for (const api::Pod* pod : model.pods_of(workload.meta.key())) {
    const std::string name = framework::pod_set_of(*pod, workload);
    const auto pods =
        std::find_if(result.begin(), result.end(), [&name](const PodSetPods& entry) { return entry.name == name; });
    if (pods != result.end()) {
      count(*pod, *pods);
    }
  }
  for (PodSetPods& pods : result) {
    std::sort(pods.waiting.begin(), pods.waiting.end(), goes_before);
  }
  return result;
}

bool has_started(const std::vector<PodSetPods>& pods) {
  return std::any_of(pods.begin(), pods.end(), [](const PodSetPods& entry) { return entry.running > 0; });
}

bool is_complete(const std::vector<PodSetPods>& pods) {
  return std::all_of(pods.begin(), pods.end(), [](const PodSetPods& entry) { return entry.present() >= entry.needed; });
}

std::string presence_text(const std::vector<PodSetPods>& pods) {
  std::int64_t present = 0;
  std::int64_t needed = 0;
  std::string parts;
  for (const PodSetPods& entry : pods) {
    present += std::min(entry.present(), entry.needed);
    needed += entry.needed;
    parts += parts.empty() ? "" : ", ";
    parts += entry.name + ": " + std::to_string(entry.present()) + "/" + std::to_string(entry.needed);
    if (entry.gated > 0) {
      parts += ", " + std::to_string(entry.gated) + " gated";
    }
  }
  return std::to_string(present) + " of " + std::to_string(needed) + " pods of the gang exist (" + parts + ")";
}

}  // namespace muster::plugins::gang
