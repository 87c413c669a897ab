// A batch/v1 Job as JSON: how it is started and stopped, and the podset it makes. Everything the reduced value types
// drop (images, env, volumes …) passes through untouched. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "controllers/requests/edit_program.h"
#include "framework/effects.h"

#include <optional>
#include <vector>

namespace muster::controllers {

// Unsuspended with the infos merged in; nothing when it runs already. kInvalid: the template says otherwise.
Result<std::optional<Edit>> next_start_edit(const api::Json& job, const std::vector<framework::PodSetInfo>& infos);

// The stop sequence of spec/workloads.md §3.3, one write at a time: suspend (and say so by an annotation), clear the
// start time, restore the template. What the API server would refuse for now (before the Job controller has set the
// condition Suspended) is left for the next StopJob. Without a Workload the Job is only suspended.
enum class Restore { kNo, kYes };
Result<std::optional<Edit>> next_stop_edit(const api::Json& job, Restore restore, const api::Json* workload);

// Merges labels, annotations, node selector and tolerations into a pod template (or a pod).
Status merge_info(const framework::PodSetInfo& info, api::Json& pod_template);

}  // namespace muster::controllers
