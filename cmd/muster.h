// The entry of the `muster` program, and of programs that add plugins of their own:
//
//   int main(int argc, char** argv) { return muster::run(argc, argv, {muster::with_plugin<Mine>()}); }
//
// Added plugins are known to profiles by their name; a profile enables them (docs/write-your-first-plugin.md).
#pragma once

#include <functional>
#include <vector>

#include "framework/registry.h"

namespace muster {

using AddPlugin = std::function<void(framework::Registry&)>;

template <framework::Plugin P>
AddPlugin with_plugin() {
  return [](framework::Registry& registry) { registry.add<P>(); };
}

// Parses the command line, runs the subcommand, returns the exit code.
int run(int argc, char** argv, const std::vector<AddPlugin>& plugins = {});

}  // namespace muster
