#include "webhook/server/periodic.h"

#include "client/clock.h"

#include <algorithm>

namespace muster::webhook {

void run_periodically(const std::stop_token& stop, Duration period, const ReportProblem& report,
                      const std::function<Status()>& round) noexcept {
  constexpr Duration kFirstPause = std::chrono::seconds(1);
  Duration pause = kFirstPause;
  while (!stop.stop_requested()) {
    const Status status = round();
    if (status.ok()) {
      pause = kFirstPause;
      client::sleep_for(period, stop);
      continue;
    }
    if (status.error().code != ErrorCode::kCancelled) {
      report(status.error());
    }
    client::sleep_for(std::min(pause, period), stop);
    pause = std::min(pause * 2, period);
  }
}

}  // namespace muster::webhook
