// From Kueue's Configuration file to the options of Muster's parts. Pure; one place that knows which field goes where.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "api/config/configuration.h"
#include "client/executor.h"
#include "client/lease.h"
#include "framework/core.h"
#include "framework/registry.h"

namespace muster::cmd {

framework::CoreOptions core_options(const api::Configuration& configuration);
framework::PluginDeps plugin_deps(const api::Configuration& configuration);
client::ExecutorOptions executor_options(const api::Configuration& configuration);
client::LeaseOptions lease_options(const api::Configuration& configuration, const std::string& own_namespace,
                                   std::string identity);

// What the file asks for and this version does not do: one sentence each, for the log. Empty: everything is honoured.
std::vector<std::string> unsupported(const api::Configuration& configuration);

}  // namespace muster::cmd
