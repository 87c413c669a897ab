// Which Workload a job names as its prebuilt one: the annotation, else the label (spec/workloads.md §1.3). Pure.
#pragma once

#include <string>

#include "api/constants.h"
#include "api/core/meta.h"

namespace muster::framework {

// Null: none. Borrowed from `job`.
inline const std::string* prebuilt_name_of(const api::ObjectMeta& job) {
  const std::string* name = api::find(job.annotations, api::kPrebuiltWorkloadKey);
  if (name == nullptr) {
    name = api::find(job.labels, api::kPrebuiltWorkloadKey);
  }
  return name != nullptr && !name->empty() ? name : nullptr;
}

}  // namespace muster::framework
