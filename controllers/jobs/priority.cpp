#include "controllers/jobs/priority.h"

#include "api/constants.h"

namespace muster::controllers {
namespace {

JobPriority from_pod_class(const api::PriorityClass& priority_class) {
  return {.ref =
              api::PriorityClassRef{
                  .group = "scheduling.k8s.io", .kind = "PriorityClass", .name = priority_class.meta.name},
          .value = priority_class.value};
}

JobPriority cluster_default(const framework::Objects& objects) {
  const api::PriorityClass* lowest = nullptr;
  for (const auto& [key, candidate] : objects.all<api::PriorityClass>().all()) {
    if (candidate->global_default && (lowest == nullptr || candidate->value < lowest->value)) {
      lowest = candidate.get();
    }
  }
  return lowest == nullptr ? JobPriority{} : from_pod_class(*lowest);
}

}  // namespace

Result<JobPriority> priority_of(const JobView& job, const framework::Objects& objects) {
  const std::string* label = api::find(job.meta->labels, api::kPriorityClassLabel);
  if (label != nullptr && !label->empty()) {
    const auto* found = objects.all<api::WorkloadPriorityClass>().find(*label);
    if (found == nullptr) {
      return Error{.code = ErrorCode::kNotFound, .message = "WorkloadPriorityClass \"" + *label + "\" not found"};
    }
    return JobPriority{.ref =
                           api::PriorityClassRef{
                               .group = std::string(api::kKueueGroup), .kind = "WorkloadPriorityClass", .name = *label},
                       .value = found->value};
  }
  for (const api::PodSet& pod_set : job.pod_sets) {
    const std::string& name = pod_set.pod_template.spec.priority_class_name;
    if (!name.empty()) {
      const auto* found = objects.all<api::PriorityClass>().find(name);
      if (found == nullptr) {
        return Error{.code = ErrorCode::kUnavailable, .message = "PriorityClass \"" + name + "\" not found"};
      }
      return from_pod_class(*found);
    }
  }
  return cluster_default(objects);
}

}  // namespace muster::controllers
