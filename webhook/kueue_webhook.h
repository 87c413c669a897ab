// The admission of Muster's own kinds (spec/api.md §5): what is defaulted when they are created; what is checked lives
// in api/validation. Pure. Any thread.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"

namespace muster::webhook {

// A ClusterQueue or ResourceFlavor as it is to be created: with the finalizer that keeps it while it is used.
Result<api::Json> protect_in_use(api::Json object);

// A Workload as it is to be created, without minCount where partial admission is off.
Result<api::Json> without_min_counts(api::Json workload);

}  // namespace muster::webhook
