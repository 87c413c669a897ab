#include "client/clock.h"

#include <condition_variable>
#include <mutex>

namespace muster::client {

MonoTime mono_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::steady_clock::now());
}

TimePoint wall_now() {
  return std::chrono::time_point_cast<Duration>(std::chrono::system_clock::now());
}

bool sleep_for(Duration duration, const std::stop_token& stop) {
  if (duration <= Duration::zero()) {
    return !stop.stop_requested();
  }
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock(mutex);
  never.wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace muster::client
