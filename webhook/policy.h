// What the mutating job and pod webhooks share: which objects Muster manages, and the defaults it gives them
// (spec/workloads.md §1.11). Internal to webhook/. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "webhook/view.h"

#include <string>

namespace muster::webhook {

// kUnavailable if the labels of the namespace decide and are not known yet: whoever asks may look again later.
Result<bool> namespace_is_managed(const std::string& ns, const View& view, const JobOptions& options);

// The object's namespace is known not to be selected.
bool is_outside(const api::Json& object, const View& view, const JobOptions& options);

// A queue name of its own, or the configuration manages objects without one.
bool is_managed(const api::Json& object, const JobOptions& options);

// The default LocalQueue, then, if the object is managed, the default WorkloadPriorityClass.
void apply_defaults(api::Json& object, const View& view, const JobOptions& options);

}  // namespace muster::webhook
