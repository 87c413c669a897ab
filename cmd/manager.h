// `muster manager`: wires the core to a cluster and runs until SIGTERM, SIGINT or the loss of leadership.
#pragma once

#include <string>
#include <vector>

#include "framework/registry.h"

namespace muster::cmd {

struct ManagerFlags {
  std::string config_file{};   // --config: Kueue's Configuration
  std::string profile_file{};  // --profile: plugins and their arguments
  std::string kubeconfig{};    // --kubeconfig
  std::string context{};       // --context
  std::string feature_gates{}; // --feature-gates k=v,…
  std::string log_level = "info";
  std::string record_file{};   // --record: append what the core is given to this file
  bool no_webhooks = false;    // --no-webhooks: serve none (development; another process serves them)
};

// Returns the exit code. Errors are printed with the file and field they concern.
int run_manager(const ManagerFlags& flags, const framework::Registry& registry);

}  // namespace muster::cmd
