// How long an evicted Workload stays out of the queue (spec/admission.md §1.10). Pure and deterministic: what Kueue
// draws at random comes from a hash of the Workload's uid.
#pragma once

#include "base/ids.h"
#include "base/time.h"
#include "controllers/options.h"

#include <cstdint>

namespace muster::controllers {

// After the `count`-th time-out (counted from 1): base·2^(count-1), at most max, and up to 0.01 % more.
Duration pods_ready_backoff(const PodsReadyOptions& options, const Uid& uid, std::int32_t count);

}  // namespace muster::controllers
