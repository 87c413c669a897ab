// The rules for labels and annotations that every job kind shares (spec/workloads.md §1.11). Internal to webhook/.
// Pure.
#pragma once

#include "api/codec/json.h"
#include "api/validation/field_error.h"
#include "webhook/view.h"

namespace muster::webhook {

// One state of a job: the object, and whether its kind calls it suspended.
struct JobState {
  const api::Json& object;
  bool suspended = false;
};

api::FieldErrors validate_labels_on_create(const api::Json& object, const JobOptions& options);
// All checks of a create, and what may not change.
api::FieldErrors validate_labels_on_update(const JobState& now, const JobState& old, const View& view,
                                           const JobOptions& options);

}  // namespace muster::webhook
