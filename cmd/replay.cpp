#include "cmd/replay.h"

#include "cmd/offline.h"
#include "cmd/record/replay.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstdio>

namespace muster::cmd {
namespace {

using api::Json;

constexpr int kDiffers = 1;
constexpr int kUnreadable = 2;

std::string or_nothing(const std::string& effect) {
  return effect.empty() ? "(nothing)" : effect;
}

std::string trace_line(const framework::TraceEntry& entry) {
  std::string line = fmt::format("cycle {}  {} {} in {}", entry.cycle, to_string(entry.outcome),
                                 to_string(entry.workload), entry.cluster_queue.str());
  line += entry.plugin.empty() ? "" : ", by " + entry.plugin;
  line += entry.reason.empty() ? "" : ", " + entry.reason;
  line += entry.message.empty() ? "" : ": " + entry.message;
  for (const framework::Wake& wake : entry.wakes) {
    line += "\n    woken when " + framework::cure_text(wake);
  }
  return line + "\n";
}

std::string to_table(const Replayed& replayed) {
  std::string text;
  for (const framework::TraceEntry& entry : replayed.shown) {
    text += trace_line(entry);
  }
  if (replayed.cut_off) {
    text += "the last line of a process is incomplete and left out\n";
  }
  text += fmt::format("{} process(es), {} events, {} settles, {} cycles in the last process, {} effects: ",
                      replayed.processes, replayed.events, replayed.settles, replayed.cycles, replayed.effects);
  if (!replayed.difference) {
    return text + "the same as recorded\n";
  }
  const Difference& difference = *replayed.difference;
  return text + fmt::format(
                    "DIFFERENT\nline {}, process {}, cycle {}, effect {} of the settle\n  recorded: {}\n"
                    "  replayed: {}\n",
                    difference.line, difference.process, difference.cycle, difference.effect,
                    or_nothing(difference.recorded), or_nothing(difference.replayed));
}

Json to_json(const framework::TraceEntry& entry) {
  Json wakes = Json::array();
  for (const framework::Wake& wake : entry.wakes) {
    wakes.push_back({{"kind", std::string(to_string(wake.kind))}, {"name", wake.name}});
  }
  return {{"cycle", entry.cycle},
          {"workload", to_string(entry.workload)},
          {"clusterQueue", entry.cluster_queue.str()},
          {"outcome", std::string(to_string(entry.outcome))},
          {"plugin", entry.plugin},
          {"reason", entry.reason},
          {"message", entry.message},
          {"wakes", std::move(wakes)}};
}

std::string to_json(const Replayed& replayed) {
  Json json = {{"processes", replayed.processes}, {"events", replayed.events},   {"settles", replayed.settles},
               {"cycles", replayed.cycles},       {"effects", replayed.effects}, {"cutOff", replayed.cut_off},
               {"same", !replayed.difference},    {"trace", Json::array()}};
  for (const framework::TraceEntry& entry : replayed.shown) {
    json["trace"].push_back(to_json(entry));
  }
  if (const std::optional<Difference>& difference = replayed.difference) {
    json["difference"] = {{"line", difference->line},         {"process", difference->process},
                          {"cycle", difference->cycle},       {"effect", difference->effect},
                          {"recorded", difference->recorded}, {"replayed", difference->replayed}};
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void add_replay(CLI::App& app, ReplayFlags& flags) {
  CLI::App* command = app.add_subcommand("replay", "Run a recording of `muster manager --record` again and compare");
  command->add_option("FILE", flags.file, "The recording")->required();
  command->add_option("--until", flags.until, "Stop after this scheduling cycle of the last process");
  command->add_option("--show-cycle", flags.show_cycle, "Print what this cycle decided, and why");
  command->add_option("-o,--output", flags.output, "table or json")->check(CLI::IsMember({"table", "json"}));
}

int run_replay(const ReplayFlags& flags, const framework::Registry& registry) {
  const Result<Replayed> replayed =
      replay_file(flags.file, registry, {.until = flags.until, .show_cycle = flags.show_cycle});
  if (!replayed.ok()) {
    complain("error", to_string(replayed.error()));
    return kUnreadable;
  }
  const std::string text = flags.output == "json" ? to_json(*replayed) : to_table(*replayed);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return replayed->difference ? kDiffers : 0;
}

}  // namespace muster::cmd
