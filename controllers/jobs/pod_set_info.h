// What the pods of an admitted Workload get when their job starts: labels, annotations, node selector and tolerations,
// from the assigned ResourceFlavors (spec/workloads.md §1.6). Pure.
#pragma once

#include "api/kueue/workload.h"
#include "base/result.h"
#include "framework/effects.h"
#include "framework/model/objects.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::controllers {

// One info a podset assignment of `status.admission` (which must be there), with what the admission checks add.
// kNotFound: a flavor is missing now, try again when it is there; kInvalid: permanent.
Result<std::vector<framework::PodSetInfo>> pod_set_infos(const api::Workload& workload,
                                                         const api::WorkloadStatus& status,
                                                         const framework::Objects& objects);

// The text of the first key that the template has with another value; merging would change what the user wrote.
std::optional<std::string> merge_conflict(const framework::PodSetInfo& info, const api::PodTemplate& pod_template);

// Adds what is not there yet; an empty operator equals `Equal`.
void merge_tolerations(std::vector<api::Toleration>& into, const std::vector<api::Toleration>& more);

}  // namespace muster::controllers
