// The priority class of a job's Workload (spec/workloads.md §1.5). Pure.
#pragma once

#include "api/kueue/workload.h"
#include "base/result.h"
#include "controllers/jobs/job_kind.h"
#include "framework/model/objects.h"

#include <cstdint>
#include <optional>

namespace muster::controllers {

struct JobPriority {
  std::optional<api::PriorityClassRef> ref{};
  std::int32_t value = 0;
  friend bool operator==(const JobPriority&, const JobPriority&) = default;
};

// kNotFound: the label names a WorkloadPriorityClass that does not exist.
Result<JobPriority> priority_of(const JobView& job, const framework::Objects& objects);

}  // namespace muster::controllers
