#include "framework/cycle/admissible.h"

#include <fmt/format.h>

#include <algorithm>

namespace muster::framework {

namespace {

std::string container_path(std::size_t pod_set, const char* list, std::size_t container) {
  return fmt::format("spec.podSets[{}].template.spec.{}[{}]", pod_set, list, container);
}

void check_limits(const api::Container& container, const std::string& path, std::vector<std::string>& errors) {
  for (const auto& [resource, request] : container.requests) {
    const auto limit = container.limits.find(resource);
    if (limit != container.limits.end() && request > limit->second) {
      errors.push_back(path + ": requests must not exceed its limits");
      return;
    }
  }
}

void check_range(const api::LimitRangeItem& item, const api::ResourceAmounts& requests,
                 const api::ResourceAmounts& limits, const std::string& path, std::vector<std::string>& errors) {
  for (const auto& [resource, request] : requests) {
    const auto limit = limits.find(resource);
    const Amount high = limit == limits.end() ? request : std::max(request, limit->second);
    const Amount low = limit == limits.end() ? request : std::min(request, limit->second);
    if (const auto max = item.max.find(resource); max != item.max.end() && high > max->second) {
      errors.push_back(path + ": requests must not be above the limitRange max");
      return;
    }
    if (const auto min = item.min.find(resource); min != item.min.end() && low < min->second) {
      errors.push_back(path + ": requests must not be below the limitRange min");
      return;
    }
  }
}

void check_limit_range(const api::LimitRange& range, const WorkloadInfo& workload, std::vector<std::string>& errors) {
  for (const api::LimitRangeItem& item : range.limits) {
    for (std::size_t i = 0; i < workload.object->pod_sets.size(); ++i) {
      const api::PodSpec& spec = workload.object->pod_sets[i].pod_template.spec;
      if (item.type == "Pod") {
        check_range(item, workload.pod_sets[i].per_pod.requests, {}, fmt::format("spec.podSets[{}].template.spec", i),
                    errors);
      } else if (item.type == "Container") {
        for (std::size_t c = 0; c < spec.containers.size(); ++c) {
          check_range(item, spec.containers[c].requests, spec.containers[c].limits, container_path(i, "containers", c),
                      errors);
        }
      }
    }
  }
}

Verdict misconfigured(const char* what, const std::vector<std::string>& errors, const WorkloadInfo& workload) {
  return Verdict::unresolvable("Misconfigured", fmt::format("{}: {}", what, fmt::join(errors, ", ")))
      .wakes_on({{WakeKind::kWorkload, to_string(workload.key)}, {WakeKind::kNamespace, workload.key.ns}});
}

}  // namespace

Verdict admissible(const WorkloadInfo& workload, const Model& model) {
  const std::vector<Wake> wakes = {{WakeKind::kNamespace, workload.key.ns},
                                   {WakeKind::kClusterQueue, workload.cluster_queue.str()}};
  const auto* ns = model.objects().find<api::Namespace>({{}, workload.key.ns});
  if (ns == nullptr) {
    return Verdict::unresolvable("Misconfigured", fmt::format("workload namespace \"{}\" does not exist", workload.key.ns))
        .wakes_on(wakes);
  }
  const auto* queue = model.objects().find<api::ClusterQueue>({{}, workload.cluster_queue.str()});
  if (queue == nullptr || !queue->namespace_selector || !api::matches(*queue->namespace_selector, ns->meta.labels)) {
    return Verdict::unresolvable("Misconfigured", "workload namespace doesn't match ClusterQueue selector").wakes_on(wakes);
  }
  std::vector<std::string> errors;
  for (std::size_t i = 0; i < workload.object->pod_sets.size(); ++i) {
    const api::PodSpec& spec = workload.object->pod_sets[i].pod_template.spec;
    for (std::size_t c = 0; c < spec.init_containers.size(); ++c) {
      check_limits(spec.init_containers[c], container_path(i, "initContainers", c), errors);
    }
    for (std::size_t c = 0; c < spec.containers.size(); ++c) {
      check_limits(spec.containers[c], container_path(i, "containers", c), errors);
    }
  }
  if (!errors.empty()) {
    return misconfigured("resources validation failed", errors, workload);
  }
  const auto& ranges = model.objects().all<api::LimitRange>().all();
  for (auto it = ranges.lower_bound({workload.key.ns, ""}); it != ranges.end() && it->first.ns == workload.key.ns; ++it) {
    check_limit_range(*it->second, workload, errors);
  }
  return errors.empty() ? Verdict{} : misconfigured("resources didn't satisfy LimitRange constraints", errors, workload);
}

}  // namespace muster::framework
