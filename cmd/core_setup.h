// Everything that decides besides the events: what a core is built from, as the text that was given. A recording holds
// it, so that replay builds the same core. Pure.
#pragma once

#include "api/config/configuration.h"
#include "controllers/options.h"
#include "framework/core.h"
#include "framework/registry.h"

#include <map>
#include <memory>
#include <string>

namespace muster::cmd {

struct CoreSetup {
  std::string configuration{};                  // Kueue's Configuration; empty: its defaults
  std::string profile{};                        // empty: the default profile
  std::map<std::string, bool> feature_gates{};  // of the command line
  std::string own_namespace{};                  // where the process runs; the Configuration's `namespace` outweighs it
  friend bool operator==(const CoreSetup&, const CoreSetup&) = default;
};

// Where the texts came from, for errors.
struct SetupNames {
  std::string configuration{};
  std::string profile{};
};

struct CoreParts {
  api::Configuration configuration{};
  std::string own_namespace{};
  framework::CoreOptions core{};
  controllers::ControllerOptions controllers{};
  framework::Profile profile{};
};

// An error names the file and the field.
Result<CoreParts> make_parts(const CoreSetup& setup, const framework::Registry& registry, const SetupNames& names);
std::unique_ptr<framework::Core> make_core(CoreParts parts);

}  // namespace muster::cmd
