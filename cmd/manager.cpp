#include "cmd/manager.h"

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <memory>

#include "api/config/configuration.h"
#include "client/executor.h"
#include "client/kinds.h"
#include "client/kubeconfig.h"
#include "client/leader_election.h"
#include "client/reflector.h"
#include "cmd/decision_loop.h"
#include "cmd/endpoints.h"
#include "cmd/core_setup.h"
#include "cmd/files.h"
#include "cmd/record/recorder.h"
#include "cmd/settings.h"
#include "cmd/version.h"
#include "controllers/requests/program_factory.h"
#include "net/cpprest/transport.h"

namespace muster::cmd {

namespace {

struct Prepared {
  CoreSetup setup{};
  CoreParts parts{};
  client::ClusterAccess access{};
};

Result<std::map<std::string, bool>> parse_gates(const std::string& text) {
  std::map<std::string, bool> gates;
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string item = text.substr(begin, end - begin);
    const std::size_t equals = item.find('=');
    const std::string value = equals == std::string::npos ? "" : item.substr(equals + 1);
    if (equals == 0 || (value != "true" && value != "false")) {
      return invalid(fmt::format("\"{}\" must be of the form Gate=true or Gate=false", item), "--feature-gates");
    }
    gates[item.substr(0, equals)] = value == "true";
    begin = end + 1;
  }
  return gates;
}

Result<std::string> read_if_named(const std::string& file) {
  return file.empty() ? Result<std::string>(std::string()) : read_file(file);
}

// Everything that can be wrong before the first connection.
Result<Prepared> prepare(const ManagerFlags& flags, const framework::Registry& registry) {
  MUSTER_TRY(configuration, read_if_named(flags.config_file));
  MUSTER_TRY(profile, read_if_named(flags.profile_file));
  MUSTER_TRY(gates, parse_gates(flags.feature_gates));
  MUSTER_TRY(access, client::find_access({flags.kubeconfig, flags.context}, client::process_environment()));
  const bool in_cluster = access.context.empty();
  CoreSetup setup{.configuration = std::move(configuration),
                  .profile = std::move(profile),
                  .feature_gates = std::move(gates),
                  .own_namespace = in_cluster ? access.ns : "kueue-system"};
  MUSTER_TRY(parts, make_parts(setup, registry, {flags.config_file, flags.profile_file}));
  return Prepared{.setup = std::move(setup), .parts = std::move(parts), .access = std::move(access)};
}

std::string host_name() {
  char name[256] = "unknown";
  gethostname(name, sizeof name - 1);
  return name;
}

void log_trace(const framework::Trace& trace) {
  for (const framework::TraceEntry& entry : trace) {
    const auto level = entry.outcome == framework::Outcome::kParked || entry.outcome == framework::Outcome::kGated
                           ? spdlog::level::debug
                           : spdlog::level::info;
    spdlog::log(level, "{} {} queue={} plugin={} reason={} {}", framework::to_string(entry.outcome),
                to_string(entry.workload), entry.cluster_queue.str(), entry.plugin, entry.reason, entry.message);
  }
}

void log_audit(const std::vector<std::string>& drift) {
  for (const std::string& line : drift) {
    spdlog::error("ledger drift: {}", line);
  }
}

// Null without a file.
Result<std::unique_ptr<Recorder>> open_recorder(const std::string& file, const CoreSetup& setup) {
  if (file.empty()) {
    return std::unique_ptr<Recorder>();
  }
  return Recorder::open(file, Started{.version = kVersion, .setup = setup}, [](const Error& error) {
    spdlog::error("--record: {}; nothing more is recorded", to_string(error));
  });
}

DecisionLoopHooks with_recording(DecisionLoopHooks hooks, Recorder* recorder) {
  if (recorder != nullptr) {
    hooks.on_apply = [recorder](TimePoint now, const framework::Event& event) { recorder->apply(now, event); };
    hooks.on_output = [recorder](TimePoint now, const framework::Output& output) { recorder->settle(now, output); };
  }
  return hooks;
}

// SIGTERM and SIGINT are taken by one wait, in the main thread; every other thread inherits the mask.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

// Until a signal comes or `ended` says so.
void wait_for_end(const sigset_t& signals, const std::atomic<bool>& ended) {
  while (!ended.load()) {
    timespec slice{.tv_sec = 0, .tv_nsec = 200'000'000};
    const int signal = sigtimedwait(&signals, nullptr, &slice);
    if (signal > 0) {
      spdlog::info("received {}, stopping", signal == SIGTERM ? "SIGTERM" : "SIGINT");
      return;
    }
  }
}

int serve(Prepared& prepared, const ManagerFlags& flags, const sigset_t& signals) {
  const api::Configuration configuration = prepared.parts.configuration;
  const std::string own_namespace = prepared.parts.own_namespace;
  net::cpprest::initialize();
  auto transport = net::cpprest::make_transport(
      {.credentials = prepared.access.credentials, .user_agent = "muster", .concurrency = 64});
  if (!transport.ok()) {
    spdlog::error("{}", to_string(transport.error()));
    return 1;
  }
  // Renewals of the lease never wait behind other requests.
  auto lease_transport =
      net::cpprest::make_transport({.credentials = prepared.access.credentials, .user_agent = "muster", .concurrency = 2});
  if (!lease_transport.ok()) {
    spdlog::error("{}", to_string(lease_transport.error()));
    return 1;
  }
  std::atomic<bool> ended = false;
  std::atomic<bool> lost = false;
  client::EventQueue events;
  auto recorder = open_recorder(flags.record_file, prepared.setup);
  if (!recorder.ok()) {
    spdlog::error("--record: {}", to_string(recorder.error()));
    return 1;
  }
  const controllers::ControllerOptions options = prepared.parts.controllers;
  const std::unique_ptr<framework::Core> core = make_core(std::move(prepared.parts));
  client::LeaseOptions lease = lease_options(configuration, own_namespace, client::lease_identity());
  if (const Status status = client::check(lease); !status.ok()) {
    spdlog::error("leaderElection: {}", to_string(status.error()));
    return 1;
  }
  const bool elects = configuration.leader_election.leader_elect;
  std::unique_ptr<client::LeaderElection> election;
  client::ExecutorOptions executor_settings = executor_options(configuration);
  executor_settings.may_write = [&election, elects] { return !elects || election->is_leader(); };
  client::Executor executor(**transport,
                            controllers::make_program_factory({.label_keys_to_copy = options.label_keys_to_copy,
                                                               .instance = "muster-" + host_name()}),
                            events, executor_settings);
  Endpoints endpoints(configuration, own_namespace, **transport, !flags.no_webhooks);
  DecisionLoop loop(*core, events,
                    with_recording({.submit = [&executor](framework::Effects effects) { executor.submit(std::move(effects)); },
                     .on_trace =
                         [&endpoints](const framework::Trace& trace) {
                           log_trace(trace);
                           endpoints.publish_trace(trace);
                         },
                     .on_event = [&endpoints](const framework::Event& event,
                                              const framework::Core& before) { endpoints.note(event, before.model()); },
                     .on_batch = [&endpoints](const framework::Core& at_rest) { endpoints.publish_view(at_rest); },
                     .on_settled = [&](const framework::Core& at_rest,
                                       Duration spent) { endpoints.publish(at_rest, executor.stats(), spent); },
                     .on_audit =
                         [&](const std::vector<std::string>& drift) {
                           log_audit(drift);
                           endpoints.publish_drift(drift.size());
                         }}, recorder->get()));
  election = std::make_unique<client::LeaderElection>(
      **lease_transport, lease,
      client::LeaderCallbacks{.on_leading =
                                  [&] {
                                    spdlog::info("leading as {}", lease.identity);
                                    endpoints.begin_leading("leader");
                                    loop.set_leading(true);
                                  },
                              .on_lost =
                                  [&] {
                                    spdlog::error("the lease was lost, stopping at once");
                                    executor.cease();
                                    lost.store(true);
                                    ended.store(true);
                                  }});
  client::Reflectors reflectors(**transport, events, client::watched_kinds(),
                                [](const Error& error) { spdlog::warn("watch: {}", to_string(error)); });
  if (const Status started = endpoints.start([&loop, &reflectors] { return loop.synced() && reflectors.not_synced().empty(); });
      !started.ok()) {
    spdlog::error("{}", to_string(started.error()));
    return 1;
  }
  reflectors.start();
  loop.start();
  if (elects) {
    endpoints.set_role("follower");
    election->start();
  } else {
    endpoints.begin_leading("standalone");
    loop.set_leading(true);
  }
  spdlog::info("watching {}", prepared.access.credentials.base_url);
  wait_for_end(signals, ended);

  endpoints.begin_shutdown();
  loop.stop();
  if (!lost.load()) {
    executor.drain(std::chrono::seconds(5));
  }
  executor.stop();
  events.close();
  reflectors.stop();
  if (elects) {
    election->stop();
  }
  endpoints.stop();
  return lost.load() ? 1 : 0;
}

}  // namespace

int run_manager(const ManagerFlags& flags, const framework::Registry& registry) {
  const sigset_t signals = block_signals();
  spdlog::set_default_logger(spdlog::stderr_color_mt("muster"));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %l %v", spdlog::pattern_time_type::utc);
  spdlog::set_level(spdlog::level::from_str(flags.log_level));
  Result<Prepared> prepared = prepare(flags, registry);
  if (!prepared.ok()) {
    spdlog::error("{}", to_string(prepared.error()));
    return 1;
  }
  for (const std::string& note : unsupported(prepared->parts.configuration)) {
    spdlog::warn("configuration: {}", note);
  }
  return serve(*prepared, flags, signals);
}

}  // namespace muster::cmd
