#include <spdlog/spdlog.h>

#include <CLI/CLI.hpp>
#include <cstdio>

#include "cmd/explain.h"
#include "cmd/manager.h"
#include "cmd/muster.h"
#include "cmd/replay.h"
#include "cmd/simulate.h"
#include "cmd/version.h"
#include "plugins/register_all.h"

namespace muster {

namespace {

constexpr int kUsage = 2;

void add_manager(CLI::App& app, cmd::ManagerFlags& flags) {
  CLI::App* manager = app.add_subcommand("manager", "Run the controller against a cluster");
  manager->add_option("--config", flags.config_file, "Kueue's Configuration file (config.kueue.x-k8s.io/v1beta2)");
  manager->add_option("--profile", flags.profile_file, "Plugins and their arguments (KubeSchedulerConfiguration)");
  manager->add_option("--kubeconfig", flags.kubeconfig,
                      "Kubeconfig file; default: $KUBECONFIG, then the pod's service account, then ~/.kube/config");
  manager->add_option("--context", flags.context, "Context of the kubeconfig");
  manager->add_option("--feature-gates", flags.feature_gates, "Gate=true,Gate=false; not together with featureGates in the file");
  manager->add_option("--log-level", flags.log_level, "trace, debug, info, warn, error")
      ->check(CLI::IsMember({"trace", "debug", "info", "warn", "error"}));
  manager->add_option("--record", flags.record_file,
                      "Append everything that decides to this file, for muster replay (it grows without bound)");
  manager->add_flag("--no-webhooks", flags.no_webhooks, "Do not serve the admission webhooks (another process does)");
}

}  // namespace

int run(int argc, char** argv, const std::vector<AddPlugin>& plugins) {
  framework::Registry registry;
  plugins::register_all(registry);
  for (const AddPlugin& add : plugins) {
    add(registry);
  }
  CLI::App app{"Muster decides when a Job may start on Kubernetes, and starts it whole.", "muster"};
  app.set_version_flag("--version", std::string("muster ") + cmd::kVersion);
  app.require_subcommand(1);
  cmd::ManagerFlags manager;
  cmd::SimulateFlags simulate;
  cmd::ExplainFlags explain;
  cmd::ReplayFlags replay;
  add_manager(app, manager);
  cmd::add_simulate(app, simulate);
  cmd::add_explain(app, explain);
  cmd::add_replay(app, replay);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsage;
  }
  if (app.got_subcommand("manager")) {
    return cmd::run_manager(manager, registry);
  }
  if (app.got_subcommand("explain")) {
    return cmd::run_explain(explain, registry);
  }
  if (app.got_subcommand("replay")) {
    return cmd::run_replay(replay, registry);
  }
  return cmd::run_simulate(simulate, registry);
}

}  // namespace muster
