// The admission of a batch/v1 Job (spec/workloads.md §1.11, §3.3): a managed Job is created suspended, and what its
// labels and annotations say must make sense. Pure; also used by the simulator. Any thread.
#pragma once

#include "api/codec/json.h"
#include "api/validation/field_error.h"
#include "base/result.h"
#include "webhook/view.h"

namespace muster::webhook {

// The Job as it is to be created: equal to `job` if it is not managed, is being deleted, is the child of another Job
// (which governs it) or lives in a namespace that is not selected. Its metadata.namespace must be set.
// kInvalid for an object that is no Job; kUnavailable while the labels of its namespace are needed and not known.
Result<api::Json> mutate_job(api::Json job, const View& view, const JobOptions& options);

// All that is wrong with a Job that is created (`old` null) or changed. Nothing is, while it is being deleted.
Result<api::FieldErrors> validate_job(const api::Json& job, const api::Json* old, const View& view,
                                      const JobOptions& options);

}  // namespace muster::webhook
