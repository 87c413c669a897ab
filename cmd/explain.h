// `muster explain WORKLOAD`: why it waits, what it lacks, who holds it, its place, and what would cure it. Offline on
// manifests or a recording, live with the user's own rights. Never writes to a cluster.
#pragma once

#include "framework/registry.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace muster::cmd {

struct ExplainFlags {
  std::string target{};          // NAME, workload/NAME, job/NAME, pod/NAME
  std::string ns{};              // -n; default: the context's, else `default`
  std::string output = "table";  // --output
  std::size_t holders = 5;       // --holders
  std::string config_file{};     // --config
  std::string profile_file{};    // --profile
  // Offline, on manifests:
  std::vector<std::string> files{};  // -f
  std::string at{};                  // --at: how long the simulator runs
  std::string default_run_time{};    // --default-run-time
  // Offline, on a recording:
  std::string record_file{};             // --record
  std::optional<std::uint64_t> until{};  // --until: stop after this cycle
  // Live:
  std::string kubeconfig{};  // --kubeconfig
  std::string context{};     // --context
};

void add_explain(CLI::App& app, ExplainFlags& flags);

// 0: explained (also a Workload that does not wait); 1: not found, or the input cannot be read; 2: usage.
int run_explain(const ExplainFlags& flags, const framework::Registry& registry);

}  // namespace muster::cmd
