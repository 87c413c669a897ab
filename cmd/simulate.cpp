#include "cmd/simulate.h"

#include "cmd/files.h"
#include "cmd/offline.h"
#include "cmd/record/recorder.h"
#include "cmd/version.h"
#include "sim/gantt.h"
#include "sim/report.h"
#include "sim/simulator.h"
#include "sim/trace_csv.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <cstdio>
#include <memory>
#include <utility>

namespace muster::cmd {
namespace {

constexpr std::uint64_t kJitterMs = 500;

// One line a decision, one a write.
void print_output(TimePoint now, const framework::Output& output) {
  const std::string at = format_duration(now - sim::kStartOfTime);
  for (const framework::TraceEntry& entry : output.trace) {
    fmt::print(stderr, "{:>10}  {} {} in {}{}{}\n", at, to_string(entry.outcome), to_string(entry.workload),
               entry.cluster_queue.str(), entry.plugin.empty() ? "" : ", by " + entry.plugin,
               entry.message.empty() ? "" : ": " + entry.message);
  }
  for (const framework::Effect& effect : output.effects) {
    fmt::print(stderr, "{:>10}    writes {}\n", at, describe(effect));
  }
}

Status read_all(const SimulateFlags& flags, sim::Manifests& out) {
  MUSTER_RETURN_IF_ERROR(read_manifest_files(flags.nodes, out));
  MUSTER_RETURN_IF_ERROR(read_manifest_files(flags.files, out));
  if (!flags.trace_csv.empty()) {
    MUSTER_TRY(csv, read_input(flags.trace_csv));
    const sim::TraceOptions options{
        .gang_size = flags.gang_size, .max_rows = flags.trace_rows, .speedup = flags.trace_speedup};
    const Status read = sim::read_trace(csv, options, out);
    if (!read.ok()) {
      return invalid(flags.trace_csv + ": " + to_string(read.error()));
    }
  }
  if (out.submissions.empty()) {
    return invalid("nothing to simulate: give manifests with -f, or a trace with --trace-csv");
  }
  return {};
}

Result<sim::SimulatorOptions> options_of(const SimulateFlags& flags, const framework::Registry& registry) {
  sim::SimulatorOptions options;
  MUSTER_TRY(until, duration_flag("--until", flags.until));
  MUSTER_TRY(run_time, duration_flag("--default-run-time", flags.default_run_time));
  MUSTER_TRY(start_time, duration_flag("--pod-start-time", flags.pod_start_time));
  options.until = until;
  options.nodes = {.default_run_time = run_time, .start_delay = start_time};
  if (flags.seed != 0) {
    options.faults = {.seed = flags.seed,
                      .max_watch_delay = Duration(kJitterMs),
                      .max_request_delay = Duration(kJitterMs / 10),
                      .max_pod_delay = Duration(kJitterMs)};
  }
  options.manager.keep_events = sim::KeepEvents::kNo;
  if (flags.trace) {
    options.manager.on_settled = print_output;
  }
  MUSTER_RETURN_IF_ERROR(configure({flags.config_file, flags.profile_file}, registry, options));
  return options;
}

// The recording begins anew: a simulation has no past.
Result<std::unique_ptr<Recorder>> record(const SimulateFlags& flags, sim::ManagerOptions& manager) {
  MUSTER_TRY(setup, read_setup({flags.config_file, flags.profile_file}));
  MUSTER_RETURN_IF_ERROR(write_file(flags.record_file, {}));
  MUSTER_TRY(recorder, Recorder::open(
                           flags.record_file, Started{.version = kVersion, .setup = std::move(setup)},
                           [](const Error& error) { complain("error", "--record: " + to_string(error)); },
                           {.longest_wait = std::chrono::hours(1)}));
  manager.on_apply = [recording = recorder.get()](TimePoint now, const framework::Event& event) {
    recording->apply(now, event);
  };
  manager.on_settled = [recording = recorder.get(), also = manager.on_settled](TimePoint now,
                                                                               const framework::Output& output) {
    recording->settle(now, output);
    if (also) {
      also(now, output);
    }
  };
  return recorder;
}

Status simulate(const SimulateFlags& flags, const framework::Registry& registry) {
  MUSTER_TRY(options, options_of(flags, registry));
  sim::Manifests manifests;
  const Status read = read_all(flags, manifests);
  for (const std::string& warning : manifests.warnings) {
    complain("warning", warning);
  }
  MUSTER_RETURN_IF_ERROR(read);
  std::unique_ptr<Recorder> recorder;
  if (!flags.record_file.empty()) {
    MUSTER_TRY(opened, record(flags, options.manager));
    recorder = std::move(opened);
  }
  sim::Simulator simulator(std::move(options), registry);
  simulator.submit(std::move(manifests.submissions));
  simulator.run();
  for (const std::string& refusal : simulator.refusals()) {
    complain("warning", "refused: " + refusal);
  }
  for (const std::string& trouble : simulator.manager().undecodable()) {
    complain("warning", "left out by the manager: " + trouble);
  }
  const sim::Report report = sim::make_report(simulator);
  const std::string text = flags.output == "json" ? sim::to_json(report) : sim::to_table(report);
  std::fwrite(text.data(), 1, text.size(), stdout);
  if (!flags.gantt_file.empty()) {
    const auto lanes = flags.gantt_by == "node" ? sim::GanttLanes::kNodes : sim::GanttLanes::kJobs;
    MUSTER_RETURN_IF_ERROR(write_file(flags.gantt_file, sim::to_svg(report, lanes)));
  }
  return {};
}

}  // namespace

void add_simulate(CLI::App& app, SimulateFlags& flags) {
  CLI::App* command = app.add_subcommand("simulate", "Show what the queues would do with jobs, without a cluster");
  command->add_option("-f,--filename", flags.files, "Manifests: files, folders, or - for stdin");
  command->add_option("--nodes", flags.nodes, "Manifests of nodes (the same as -f, for a set of nodes kept apart)");
  command->add_option("-o,--output", flags.output, "table or json")->check(CLI::IsMember({"table", "json"}));
  command->add_option("--gantt", flags.gantt_file, "Draw the run into this SVG file");
  command->add_option("--gantt-by", flags.gantt_by, "One lane a job, or a node")->check(CLI::IsMember({"job", "node"}));
  command->add_option("--until", flags.until, "Give up after this much virtual time");
  command->add_option("--default-run-time", flags.default_run_time,
                      "Of pods whose Job has no annotation muster.x-k8s.io/run-time");
  command->add_option("--pod-start-time", flags.pod_start_time, "From a pod's binding until it runs");
  command->add_option("--trace-csv", flags.trace_csv, "A trace in the columns of openb: one job a row");
  command->add_option("--gang-size", flags.gang_size, "Make gangs of so many consecutive equal rows of the trace")
      ->check(CLI::Range(1, 100000));
  command->add_option("--trace-rows", flags.trace_rows, "Only the first rows of the trace; 0: all");
  command->add_option("--trace-speedup", flags.trace_speedup, "Let the rows of the trace arrive so many times faster")
      ->check(CLI::Range(1, 1000000));
  command->add_option("--config", flags.config_file, "Kueue's Configuration file (config.kueue.x-k8s.io/v1beta2)");
  command->add_option("--profile", flags.profile_file, "Plugins and their arguments (KubeSchedulerConfiguration)");
  command->add_option("--record", flags.record_file, "Write everything that decides to this file, for muster replay");
  command->add_flag("--trace", flags.trace, "Print every decision and every write to stderr");
  command->add_option("--seed", flags.seed, "Let everything take a little, random time, repeatably; 0: no time");
}

int run_simulate(const SimulateFlags& flags, const framework::Registry& registry) {
  const Status status = simulate(flags, registry);
  if (!status.ok()) {
    complain("error", to_string(status.error()));
    return 1;
  }
  return 0;
}

}  // namespace muster::cmd
