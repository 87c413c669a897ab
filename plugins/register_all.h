// The plugins in the product: the only list.
#pragma once

#include "framework/registry.h"

#include <string>
#include <vector>

namespace muster::plugins {

void register_all(framework::Registry& registry);

// Enabled without a profile file, at every point they implement, in this order.
std::vector<std::string> default_plugins(const framework::PluginDeps& deps);

}  // namespace muster::plugins
