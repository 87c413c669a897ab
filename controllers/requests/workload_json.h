// The Workload of a job, built from the job as the API server holds it: whole templates, nothing reduced
// (spec/workloads.md §1.4). Pure.
#pragma once

#include "api/codec/json.h"
#include "framework/effects.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::controllers {

// `job` is a batch/v1 Job or a Pod, as effect.job.kind says.
api::Json new_workload(const framework::CreateWorkload& effect, const api::Json& job,
                       const std::vector<std::string>& label_keys_to_copy);

// `workload` with the job as its controller, unless somebody else is.
std::optional<api::Json> adopted_workload(const framework::AdoptWorkload& effect, const api::Json& job, api::Json workload);

// `workload` with what follows from the job: podsets, queue, time limit; and the priority of the effect.
api::Json rewritten_workload(const framework::RewriteWorkload& effect, const api::Json& job, api::Json workload);

}  // namespace muster::controllers
