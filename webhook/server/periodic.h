// A loop that does the same thing again and again, sooner after a failure. The body of a thread. Internal to this
// folder.
#pragma once

#include "base/result.h"
#include "base/time.h"
#include "webhook/server/report.h"

#include <functional>
#include <stop_token>

namespace muster::webhook {

// Until `stop`: `round`, then a pause of `period`; after a failure, which is reported, a pause of a second, doubled
// with each further failure up to the period. An exception out of `round` ends the process.
void run_periodically(const std::stop_token& stop, Duration period, const ReportProblem& report,
                      const std::function<Status()>& round) noexcept;

}  // namespace muster::webhook
