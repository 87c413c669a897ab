#include "framework/cycle/admissible.h"

#include <fmt/format.h>

#include <algorithm>

#include "framework/totals.h"

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

// The LimitRanges of a namespace as one: the smallest max and the largest min of each resource.
api::LimitRangeItem merged_range(const Model& model, const std::string& ns, std::string_view type) {
  api::LimitRangeItem merged;
  const auto& ranges = model.objects().all<api::LimitRange>().all();
  for (auto it = ranges.lower_bound({ns, ""}); it != ranges.end() && it->first.ns == ns; ++it) {
    for (const api::LimitRangeItem& item : it->second->limits) {
      if (item.type != type) {
        continue;
      }
      for (const auto& [resource, amount] : item.max) {
        Amount& max = merged.max.try_emplace(resource, amount).first->second;
        max = std::min(max, amount);
      }
      for (const auto& [resource, amount] : item.min) {
        Amount& min = merged.min.try_emplace(resource, amount).first->second;
        min = std::max(min, amount);
      }
    }
  }
  return merged;
}

// Asks `check(container, path)` of every container, init containers first.
template <class Check>
void for_each_container(const api::PodSpec& spec, std::size_t pod_set, Check check) {
  for (std::size_t c = 0; c < spec.init_containers.size(); ++c) {
    check(spec.init_containers[c], container_path(pod_set, "initContainers", c));
  }
  for (std::size_t c = 0; c < spec.containers.size(); ++c) {
    check(spec.containers[c], container_path(pod_set, "containers", c));
  }
}

std::vector<std::string> range_errors(const Model& model, const std::string& ns, const std::vector<api::PodSpec>& specs) {
  std::vector<std::string> errors;
  const api::LimitRangeItem of_containers = merged_range(model, ns, "Container");
  const api::LimitRangeItem of_pods = merged_range(model, ns, "Pod");
  for (std::size_t i = 0; i < specs.size(); ++i) {
    for_each_container(specs[i], i, [&](const api::Container& container, const std::string& path) {
      check_range(of_containers, container.requests, container.limits, path, errors);
    });
    check_range(of_pods, api::pod_requests(specs[i]), {}, fmt::format("spec.podSets[{}].template.spec", i), errors);
  }
  return errors;
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
  std::vector<api::PodSpec> specs;  // as their pods will be
  std::vector<std::string> errors;
  for (const api::PodSet& pod_set : workload.object->pod_sets) {
    specs.push_back(adjusted(pod_set.pod_template.spec, workload.key.ns, model.objects()));
    for_each_container(specs.back(), specs.size() - 1, [&errors](const api::Container& container, const std::string& path) {
      check_limits(container, path, errors);
    });
  }
  if (!errors.empty()) {
    return misconfigured("resources validation failed", errors, workload);
  }
  errors = range_errors(model, workload.key.ns, specs);
  return errors.empty() ? Verdict{} : misconfigured("resources didn't satisfy LimitRange constraints", errors, workload);
}

}  // namespace muster::framework
