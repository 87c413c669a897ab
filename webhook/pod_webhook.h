// The admission of a plain pod (spec/workloads.md §3.2): a managed pod is gated until its Workload is admitted. Pods of
// Jobs and of other kinds with an integration are not jobs of their own. Pure. Any thread.
#pragma once

#include "api/codec/json.h"
#include "api/validation/field_error.h"
#include "base/result.h"
#include "webhook/view.h"

#include <string>
#include <vector>

namespace muster::webhook {

// The pod as it is to be created: with the label kueue.x-k8s.io/managed, our finalizer and our scheduling gate if it is
// a managed pod of its own, else equal to `pod`. Errors as mutate_job.
Result<api::Json> mutate_pod(api::Json pod, const View& view, const JobOptions& options);

struct PodFindings {
  api::FieldErrors errors{};
  std::vector<std::string> warnings{};
};

// `old` is null on create.
Result<PodFindings> validate_pod(const api::Json& pod, const api::Json* old, const View& view,
                                 const JobOptions& options);

}  // namespace muster::webhook
