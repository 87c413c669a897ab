#include "cmd/record/input_log.h"

#include "cmd/record/effect_json.h"
#include "cmd/record/object_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::cmd {
namespace {

using api::Json;

constexpr int kFormat = 1;

std::int64_t millis(TimePoint time) {
  return time.time_since_epoch().count();
}

TimePoint time_of(const Json& json) {
  return TimePoint(Duration(json.get<std::int64_t>()));
}

// ---- events ----

// Here and below the bindings name every member: a new one does not compile until it is recorded.
Json encode_error(const Error& error) {
  const auto& [code, message, path, maybe_executed] = error;
  return {{"code", static_cast<int>(code)}, {"message", message}, {"path", path}, {"maybeExecuted", maybe_executed}};
}

Json answered(framework::EffectId id, const std::shared_ptr<const api::Workload>& workload) {
  Json json = {{"id", id}};
  if (workload != nullptr) {
    json["workload"] = encode_exactly(*workload);
  }
  return json;
}

struct EncodeEvent {
  Json operator()(const framework::ObjectEvent& event) const { return encode_event(event); }

  Json operator()(const framework::Synced& /*event*/) const { return {{"change", "synced"}}; }

  Json operator()(const framework::Tick& /*event*/) const { return {{"change", "tick"}}; }

  Json operator()(const framework::EffectDone& event) const {
    const auto& [id, workload, written_version] = event;
    Json json = {{"change", "done"}, {"effect", answered(id, workload)}};
    json["effect"]["writtenVersion"] = written_version;
    return json;
  }

  Json operator()(const framework::EffectFailed& event) const {
    const auto& [id, error, workload] = event;
    Json json = {{"change", "failed"}, {"effect", answered(id, workload)}};
    json["effect"]["error"] = encode_error(error);
    return json;
  }
};

Result<std::shared_ptr<const api::Workload>> workload_in(const Json& effect) {
  const auto workload = effect.find("workload");
  if (workload == effect.end()) {
    return std::shared_ptr<const api::Workload>();
  }
  return decode_workload(*workload);
}

Result<framework::Event> read_failed(const Json& effect) {
  MUSTER_TRY(workload, workload_in(effect));
  const Json& error = effect.at("error");
  return framework::Event(framework::EffectFailed{.id = effect.at("id").get<framework::EffectId>(),
                                                  .error = {.code = static_cast<ErrorCode>(error.at("code").get<int>()),
                                                            .message = error.at("message").get<std::string>(),
                                                            .path = error.at("path").get<std::string>(),
                                                            .maybe_executed = error.at("maybeExecuted").get<bool>()},
                                                  .workload = std::move(workload)});
}

Result<framework::Event> read_event(const Json& json) {
  const std::string change = json.at("change").get<std::string>();
  if (change == "synced") {
    return framework::Event(framework::Synced{});
  }
  if (change == "tick") {
    return framework::Event(framework::Tick{});
  }
  if (change == "failed") {
    return read_failed(json.at("effect"));
  }
  if (change == "done") {
    const Json& effect = json.at("effect");
    MUSTER_TRY(workload, workload_in(effect));
    return framework::Event(framework::EffectDone{.id = effect.at("id").get<framework::EffectId>(),
                                                  .workload = std::move(workload),
                                                  .written_version = effect.value("writtenVersion", std::string())});
  }
  MUSTER_TRY(event, decode_event(json));
  return framework::Event(std::move(event));
}

// ---- lines ----

struct FormatLine {
  Json operator()(const Started& line) const {
    return {{"started",
             {{"format", kFormat},
              {"version", line.version},
              {"configuration", line.setup.configuration},
              {"profile", line.setup.profile},
              {"featureGates", line.setup.feature_gates},
              {"ownNamespace", line.setup.own_namespace}}}};
  }

  Json operator()(const Applied& line) const {
    return {{"apply", std::visit(EncodeEvent{}, line.event)}, {"now", millis(line.now)}};
  }

  Json operator()(const Settled& line) const {
    return {{"now", millis(line.now)},
            {"settle", {{"cycle", line.cycle}, {"effects", line.effects}, {"hash", line.hash}}}};
  }
};

Result<LogLine> read_started(const Json& json) {
  if (const int format = json.at("format").get<int>(); format != kFormat) {
    return invalid("format " + std::to_string(format) + " is not known to this version", "started");
  }
  return LogLine(Started{.version = json.at("version").get<std::string>(),
                         .setup = {.configuration = json.at("configuration").get<std::string>(),
                                   .profile = json.at("profile").get<std::string>(),
                                   .feature_gates = json.at("featureGates").get<std::map<std::string, bool>>(),
                                   .own_namespace = json.at("ownNamespace").get<std::string>()}});
}

Result<LogLine> read_line(const Json& json) {
  if (const auto started = json.find("started"); started != json.end()) {
    return read_started(*started);
  }
  const TimePoint now = time_of(json.at("now"));
  if (const auto settle = json.find("settle"); settle != json.end()) {
    return LogLine(Settled{.now = now,
                           .cycle = settle->at("cycle").get<std::uint64_t>(),
                           .effects = settle->at("effects").get<std::vector<std::string>>(),
                           .hash = settle->at("hash").get<std::uint64_t>()});
  }
  MUSTER_TRY(event, read_event(json.at("apply")));
  return LogLine(Applied{.now = now, .event = std::move(event)});
}

}  // namespace

std::string format_line(const LogLine& line) {
  return api::dump_json(std::visit(FormatLine{}, line));
}

Result<LogLine> parse_line(std::string_view text) {
  MUSTER_TRY(json, api::parse_json(text, {.bytes = std::size_t{64} << 20, .depth = 192}));
  try {
    return read_line(json);
  } catch (const Json::exception& error) {
    return invalid(error.what());
  }
}

std::uint64_t last_cycle(std::uint64_t before, const framework::Trace& trace) {
  for (const framework::TraceEntry& entry : trace) {
    before = std::max(before, entry.cycle);
  }
  return before;
}

Settled settled(TimePoint now, std::uint64_t cycle, const framework::Effects& effects) {
  Settled line{.now = now, .cycle = cycle, .hash = hash_of(effects)};
  for (const framework::Effect& effect : effects) {
    line.effects.push_back(framework::describe(effect));
  }
  return line;
}

}  // namespace muster::cmd
