// Does a Workload still say what its job says (spec/workloads.md §1.2)? Pure.
#pragma once

#include "api/kueue/workload.h"
#include "controllers/jobs/job_kind.h"
#include "framework/model/objects.h"

namespace muster::controllers {

// `status` is the Workload's assumed status. Ownership is the caller's business.
bool is_equivalent(const JobView& job, const api::Workload& workload, const api::WorkloadStatus& status,
                   const framework::Objects& objects);

}  // namespace muster::controllers
