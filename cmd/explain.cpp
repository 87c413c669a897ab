#include "cmd/explain.h"

#include "client/kubeconfig.h"
#include "cmd/explain/live.h"
#include "cmd/explain/target.h"
#include "cmd/explain/text.h"
#include "cmd/offline.h"
#include "cmd/record/replay.h"
#include "net/cpprest/transport.h"
#include "sim/simulator.h"

#include <CLI/CLI.hpp>

#include <cstdio>
#include <utility>

namespace muster::cmd {
namespace {

constexpr int kNotFound = 1;
constexpr int kUsage = 2;
constexpr Duration kForever = std::chrono::hours(24 * 365 * 50);  // longer than a simulation lasts

struct Answer {
  framework::Explanation explanation{};
  std::vector<std::string> notes{};
};

Result<framework::Explanation> ask(framework::Core& core, TimePoint now, const ExplainFlags& flags,
                                   const std::string& ns) {
  MUSTER_TRY(target, parse_target(flags.target, ns));
  MUSTER_TRY(workload, find_workload(core.model(), target));
  return core.explain(now, workload, {.holders = flags.holders});
}

std::string or_default(const std::string& ns) {
  return ns.empty() ? "default" : ns;
}

// ---- manifests ----

// Without --at, pods run for ever unless their Job says how long: what waits then waits for good, and can be asked.
Result<sim::SimulatorOptions> simulation(const ExplainFlags& flags, const framework::Registry& registry) {
  sim::SimulatorOptions options;
  options.manager.keep_events = sim::KeepEvents::kNo;
  options.nodes.default_run_time = flags.at.empty() ? kForever : Duration(std::chrono::seconds(60));
  if (!flags.at.empty()) {
    MUSTER_TRY(at, duration_flag("--at", flags.at));
    options.until = at;
  }
  if (!flags.default_run_time.empty()) {
    MUSTER_TRY(run_time, duration_flag("--default-run-time", flags.default_run_time));
    options.nodes.default_run_time = run_time;
  }
  MUSTER_RETURN_IF_ERROR(configure({flags.config_file, flags.profile_file}, registry, options));
  return options;
}

Result<Answer> explain_manifests(const ExplainFlags& flags, const framework::Registry& registry) {
  MUSTER_TRY(options, simulation(flags, registry));
  sim::Manifests manifests;
  MUSTER_RETURN_IF_ERROR(read_manifest_files(flags.files, manifests));
  Answer answer{.notes = std::move(manifests.warnings)};
  sim::Simulator simulator(std::move(options), registry);
  simulator.submit(std::move(manifests.submissions));
  simulator.run();
  for (const std::string& refusal : simulator.refusals()) {
    answer.notes.push_back("refused: " + refusal);
  }
  MUSTER_TRY(explanation, ask(simulator.manager().core(), simulator.now(), flags, or_default(flags.ns)));
  answer.explanation = std::move(explanation);
  return answer;
}

// ---- a recording ----

Result<Answer> explain_recording(const ExplainFlags& flags, const framework::Registry& registry) {
  MUSTER_TRY(replayed, replay_file(flags.record_file, registry, {.until = flags.until}));
  if (replayed.difference) {
    complain("warning", "this version decides otherwise than the recording: see muster replay");
  }
  MUSTER_TRY(explanation, ask(*replayed.core, replayed.now, flags, or_default(flags.ns)));
  return Answer{.explanation = std::move(explanation)};
}

// ---- a cluster ----

Result<Answer> explain_live(const ExplainFlags& flags, const framework::Registry& registry) {
  MUSTER_TRY(setup, read_setup({flags.config_file, flags.profile_file}));
  MUSTER_TRY(parts, make_parts(setup, registry, {flags.config_file, flags.profile_file}));
  MUSTER_TRY(access, client::find_access({flags.kubeconfig, flags.context}, client::process_environment()));
  net::cpprest::initialize();
  MUSTER_TRY(transport, net::cpprest::make_transport(
                            {.credentials = access.credentials, .user_agent = "muster-explain", .concurrency = 2}));
  const std::string ns = or_default(flags.ns.empty() ? access.ns : flags.ns);
  MUSTER_TRY(live, read_cluster(client::ApiClient(*transport), std::move(parts), ns));
  MUSTER_TRY(explanation, ask(*live.core, live.now, flags, ns));
  restrict_to_seen(live, explanation);
  return Answer{.explanation = std::move(explanation), .notes = std::move(live.notes)};
}

Result<Answer> explain(const ExplainFlags& flags, const framework::Registry& registry) {
  if (!flags.files.empty()) {
    return explain_manifests(flags, registry);
  }
  return flags.record_file.empty() ? explain_live(flags, registry) : explain_recording(flags, registry);
}

Status check_usage(const ExplainFlags& flags) {
  const auto target = parse_target(flags.target, "default");
  if (!target.ok()) {
    return target.error();
  }
  if (!flags.at.empty()) {
    const auto at = duration_flag("--at", flags.at);
    return at.ok() ? Status{} : Status{at.error()};
  }
  return {};
}

}  // namespace

void add_explain(CLI::App& app, ExplainFlags& flags) {
  CLI::App* command =
      app.add_subcommand("explain", "Say why a Workload waits, who holds what it lacks, what would cure it");
  command->add_option("WORKLOAD", flags.target, "NAME, workload/NAME, job/NAME or pod/NAME")->required();
  command->add_option("-n,--namespace", flags.ns, "Its namespace; default: that of the context, else `default`");
  command->add_option("-o,--output", flags.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_option("--holders", flags.holders, "How many holders of a lacking resource are listed");
  command->add_option("--config", flags.config_file, "Kueue's Configuration file, as the manager has it");
  command->add_option("--profile", flags.profile_file, "Plugins and their arguments, as the manager has them");
  auto* files = command->add_option("-f,--filename", flags.files, "Offline: manifests, as for muster simulate");
  command
      ->add_option("--at", flags.at,
                   "Offline: as muster simulate has it after this time; default: when nothing changes")
      ->needs(files);
  command
      ->add_option("--default-run-time", flags.default_run_time,
                   "Offline: of pods whose Job has no annotation muster.x-k8s.io/run-time")
      ->needs(files);
  auto* record = command->add_option("--record", flags.record_file, "Offline: a recording of muster manager --record");
  command->add_option("--until", flags.until, "Offline: stop the recording after this scheduling cycle")->needs(record);
  auto* kubeconfig =
      command->add_option("--kubeconfig", flags.kubeconfig, "Live: default $KUBECONFIG, then ~/.kube/config");
  command->add_option("--context", flags.context, "Live: context of the kubeconfig");
  files->excludes(record);
  files->excludes(kubeconfig);
  record->excludes(kubeconfig);
}

int run_explain(const ExplainFlags& flags, const framework::Registry& registry) {
  if (const Status usage = check_usage(flags); !usage.ok()) {
    complain("error", to_string(usage.error()));
    return kUsage;
  }
  const Result<Answer> answer = explain(flags, registry);
  if (!answer.ok()) {
    complain("error", to_string(answer.error()));
    return kNotFound;
  }
  const std::string text = flags.output == "json" ? to_json(answer->explanation, answer->notes)
                                                  : to_table(answer->explanation, answer->notes);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return 0;
}

}  // namespace muster::cmd
