// What goes wrong in a simulation, and how long things take: drawn from one seed, so that a run can be repeated.
// Without any fault everything is immediate. Owner: the simulator. Single thread.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <random>

namespace muster::sim {

struct FaultOptions {
  std::uint64_t seed = 1;
  Duration max_watch_delay{0};    // of an event on its way to a controller
  Duration max_request_delay{0};  // of a request, each way
  Duration max_pod_delay{0};      // more than what starting and stopping a pod takes anyway
  // In thousandths of all requests:
  std::uint32_t refused = 0;   // answered 500, not carried out
  std::uint32_t lost = 0;      // carried out, the answer is lost
  std::uint32_t conflict = 0;  // answered 409, not carried out (writes only)
};

enum class Fate : std::uint8_t { kFine, kRefused, kLost, kConflict };

class Faults {
 public:
  explicit Faults(const FaultOptions& options) : options_(options), random_(options.seed) {}

  Duration watch_delay() { return up_to(options_.max_watch_delay); }

  Duration request_delay() { return up_to(options_.max_request_delay); }

  Duration pod_delay() { return up_to(options_.max_pod_delay); }

  Fate fate_of_request(bool is_write) {
    const std::uint32_t any = options_.refused + options_.lost + options_.conflict;
    if (any == 0) {
      return Fate::kFine;
    }
    const std::uint64_t drawn = random_() % 1000;
    if (drawn < options_.refused) {
      return Fate::kRefused;
    }
    if (drawn < options_.refused + options_.lost) {
      return is_write ? Fate::kLost : Fate::kRefused;
    }
    return drawn < any && is_write ? Fate::kConflict : Fate::kFine;
  }

  // Zero to `limit`, in milliseconds.
  Duration up_to(Duration limit) {
    return limit <= Duration::zero()
               ? Duration::zero()
               : Duration(static_cast<Duration::rep>(random_() % (static_cast<std::uint64_t>(limit.count()) + 1)));
  }

 private:
  FaultOptions options_;
  std::mt19937_64 random_;  // the standard fixes its numbers
};

}  // namespace muster::sim
