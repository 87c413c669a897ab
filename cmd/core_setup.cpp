#include "cmd/core_setup.h"

#include "cmd/settings.h"
#include "controllers/register.h"
#include "plugins/register_all.h"

#include <utility>

namespace muster::cmd {
namespace {

Error in_file(const Error& error, const std::string& file, const char* otherwise) {
  return invalid((file.empty() ? otherwise : file) + (": " + to_string(error)));
}

}  // namespace

Result<CoreParts> make_parts(const CoreSetup& setup, const framework::Registry& registry, const SetupNames& names) {
  Result<api::Configuration> configuration = api::parse_configuration(setup.configuration);
  if (!configuration.ok()) {
    return in_file(configuration.error(), names.configuration, "configuration");
  }
  if (!setup.feature_gates.empty()) {
    if (!configuration->feature_gates.empty()) {
      return invalid("cannot be used together with featureGates in the configuration file", "--feature-gates");
    }
    configuration->feature_gates = setup.feature_gates;
  }
  const framework::PluginDeps deps = plugin_deps(*configuration);
  Result<framework::Profile> profile =
      framework::make_profile(setup.profile, registry, plugins::default_plugins(deps), deps);
  if (!profile.ok()) {
    return in_file(profile.error(), names.profile, "default profile");
  }
  const std::string own_namespace = configuration->ns.empty() ? setup.own_namespace : configuration->ns;
  return CoreParts{.configuration = *configuration,
                   .own_namespace = own_namespace,
                   .core = core_options(*configuration),
                   .controllers = controllers::options_from(*configuration, own_namespace),
                   .profile = *std::move(profile)};
}

std::unique_ptr<framework::Core> make_core(CoreParts parts) {
  return std::make_unique<framework::Core>(parts.core, std::move(parts.profile),
                                           controllers::make_reconcilers(parts.controllers));
}

}  // namespace muster::cmd
