// batch/v1 Job: what admission and the job reconciler read. The pod template is reduced (api/core/pod.h); whoever
// needs the whole template reads the object at that moment. Plain values.
#pragma once

#include "api/core/meta.h"
#include "api/core/pod.h"

#include <cstdint>
#include <optional>
#include <string>

namespace muster::api {

struct Job {
  ObjectMeta meta{};
  bool suspend = false;
  std::int32_t parallelism = 1;
  std::optional<std::int32_t> completions{};
  std::string completion_mode{};
  std::string managed_by{};
  PodTemplate pod_template{};

  Conditions conditions{};  // Complete, Failed, Suspended, SuccessCriteriaMet, FailureTarget
  std::int32_t active = 0;
  std::int32_t ready = 0;
  std::int32_t succeeded = 0;
  std::int32_t failed = 0;
  std::int32_t uncounted_succeeded = 0;
  std::int32_t terminating = 0;
  std::optional<TimePoint> start_time{};
  friend bool operator==(const Job&, const Job&) = default;
};

}  // namespace muster::api
