// May pods of a template use a ResourceFlavor at all: taints and node labels (spec/admission.md §3.5). Pure.
#pragma once

#include "api/core/pod.h"
#include "api/kueue/queues.h"
#include "base/ids.h"

#include <string>

namespace muster::plugins {

// Empty: yes. Otherwise the reason, as Kueue words it. `flavor` null: the object does not exist.
std::string ineligible_reason(const api::PodSpec& pod, const FlavorName& name, const api::ResourceFlavor* flavor);

}  // namespace muster::plugins
