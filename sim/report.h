// What a simulation showed, as a value, and its text forms. Pure.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim {

class Simulator;

struct JobReport {
  std::string name{};                  // namespace/name
  std::string queue{};                 // LocalQueue; empty: none
  Duration submitted{};                // all times: since the start of the simulation
  std::optional<Duration> admitted{};  // last time
  std::optional<Duration> started{};   // of the last attempt
  std::optional<Duration> finished{};
  Duration waited{};  // submitted, and not running, in total
  std::vector<std::string> nodes{};
  std::int32_t preempted = 0;  // times
  std::int32_t evicted = 0;    // times, for other reasons
  std::string state{};         // Finished, Failed, Running, Admitted, Pending, Suspended
  std::string reason{};        // of a job that is not finished: what it waits for

  struct Span {
    Duration from{};
    Duration to{};
    enum class What : std::uint8_t { kWaiting, kStarting, kRunning } what = What::kWaiting;
    bool evicted = false;  // ended by an eviction
    std::vector<std::string> nodes{};
  };

  std::vector<Span> spans{};
};

struct ResourceReport {
  double capacity = 0;     // base units; of the nodes, without nodes the sum of nominal quotas
  double utilisation = 0;  // 0..1, over the makespan
};

struct Report {
  std::vector<JobReport> jobs{};  // by time of submission, then name
  std::map<std::string, ResourceReport> resources{};
  Duration makespan{};                 // from the first submission to the last end
  std::optional<Duration> wait_p50{};  // of jobs that started
  std::optional<Duration> wait_p99{};
  std::int32_t finished = 0;
  std::int32_t pending = 0;  // never started, or waiting again at the end
  std::int32_t preemptions = 0;
  Duration end{};  // when the simulation ended
};

Report make_report(const Simulator& simulator);

// `12 jobs: 10 finished, 1 running, 1 waiting; 2 preemptions`
std::string summary(const Report& report);
std::string to_table(const Report& report);
std::string to_json(const Report& report);

}  // namespace muster::sim
