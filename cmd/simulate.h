// `muster simulate`: what the queues would do with these jobs on these nodes, in virtual time, without a cluster.
#pragma once

#include "framework/registry.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace muster::cmd {

struct SimulateFlags {
  std::vector<std::string> files{};      // -f: manifests; folders are read whole
  std::vector<std::string> nodes{};      // --nodes: more manifests
  std::string trace_csv{};               // --trace-csv: one job a row
  std::size_t gang_size = 1;             // --gang-size
  std::size_t trace_rows = 0;            // --trace-rows
  std::int64_t trace_speedup = 1;        // --trace-speedup
  std::string output = "table";          // --output
  std::string gantt_file{};              // --gantt
  std::string gantt_by = "job";          // --gantt-by
  std::string until = "8760h";           // --until
  std::string default_run_time = "60s";  // --default-run-time
  std::string pod_start_time = "0s";     // --pod-start-time
  std::string config_file{};             // --config
  std::string profile_file{};            // --profile
  std::string record_file{};             // --record: what the core is given, for `muster replay`
  bool trace = false;                    // --trace: decisions and writes, to stderr
  std::uint64_t seed = 0;                // --seed: jitter of all that takes time; 0: none
};

void add_simulate(CLI::App& app, SimulateFlags& flags);

// Returns the exit code. The report goes to stdout, errors and warnings with file and field to stderr.
int run_simulate(const SimulateFlags& flags, const framework::Registry& registry);

}  // namespace muster::cmd
