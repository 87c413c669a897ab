// Reads a cluster once, with the rights of whoever asks, into a core of one's own, which then decides as the manager
// does; nothing that it wants done is done. Shell: blocks on the network, one thread.
#pragma once

#include "client/api_client.h"
#include "cmd/core_setup.h"
#include "framework/core.h"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace muster::cmd {

struct LiveCore {
  std::unique_ptr<framework::Core> core{};
  TimePoint now{};
  // Kinds of which not everything that matters could be read.
  std::set<std::string> unseen{};
  std::vector<std::string> notes{};
};

// Kinds that may not be listed are left out, with a note; namespaced ones are then tried in `ns` alone. Everything else
// that goes wrong is an error.
Result<LiveCore> read_cluster(const client::ApiClient& api, CoreParts parts, const std::string& ns);

// Takes back what cannot be known without the unseen kinds, and falls back to what the manager wrote into the
// Workload's own conditions.
void restrict_to_seen(const LiveCore& live, framework::Explanation& explanation);

}  // namespace muster::cmd
