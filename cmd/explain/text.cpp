#include "cmd/explain/text.h"

#include "api/codec/json.h"
#include "base/quantity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::cmd {
namespace {

using api::Json;
using framework::Explanation;
using framework::FlavorAnswer;
using framework::Holder;
using framework::NodesAnswer;
using framework::Position;
using framework::Standing;

// ---- table ----

using Row = std::array<std::string, 8>;

// Columns as wide as they must be; the last one is a sentence and stays as it is.
std::string aligned(const std::vector<Row>& rows) {
  std::array<std::size_t, std::tuple_size_v<Row>> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 == row.size() ? " " + row[i] : fmt::format(" {:<{}} ", row[i], widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string verdict_of(const FlavorAnswer& answer) {
  if (answer.finding.text.empty()) {
    return "fits";
  }
  const bool others_may_go = answer.finding.mode == framework::FitMode::kPreempt;
  return answer.finding.text + (others_may_go ? " (somebody might be preempted for it)" : "");
}

Row row_of(const FlavorAnswer& answer) {
  const framework::FlavorFinding& finding = answer.finding;
  const bool numbers = !finding.flavor.empty() && !finding.resource.empty();
  const auto amount = [&](Amount value) { return numbers ? format_amount(finding.resource, value) : std::string("-"); };
  const auto or_dash = [](const std::string& text) { return text.empty() ? std::string("-") : text; };
  std::string requested = finding.resource.empty() ? "-" : format_amount(finding.resource, finding.requested);
  if (finding.earlier > 0) {
    requested += " (+" + format_amount(finding.resource, finding.earlier) + " before)";
  }
  return {finding.pod_set,          or_dash(finding.flavor.str()), or_dash(finding.resource), requested,
          amount(answer.available), amount(answer.missing),        amount(answer.most),       verdict_of(answer)};
}

std::string flavors_text(const Explanation& explanation) {
  if (explanation.flavors.empty()) {
    return {};
  }
  std::vector<Row> rows = {{"PODSET", "FLAVOR", "RESOURCE", "REQUESTED", "AVAILABLE", "MISSING", "AT MOST", "VERDICT"}};
  for (const FlavorAnswer& answer : explanation.flavors) {
    rows.push_back(row_of(answer));
  }
  return "\nFlavors\n" + aligned(rows);
}

std::string holder_text(const Holder& holder, const std::string& resource) {
  return fmt::format("    {} {} in ClusterQueue {}, priority {}{}{}\n", format_amount(resource, holder.amount),
                     to_string(holder.workload), holder.cluster_queue.str(), holder.priority,
                     holder.claim ? ", claimed for when its victims leave" : "", holder.leaving ? ", leaving" : "");
}

std::string holders_text(const Explanation& explanation) {
  std::string text;
  std::vector<framework::FlavorResource> told;  // podsets that lack the same have the same holders
  for (const FlavorAnswer& answer : explanation.flavors) {
    const framework::FlavorResource fr{answer.finding.flavor, answer.finding.resource};
    if (answer.missing == 0 || answer.finding.flavor.empty() || std::find(told.begin(), told.end(), fr) != told.end()) {
      continue;
    }
    told.push_back(fr);
    text += fmt::format("  {} of {}{}\n", fr.resource, fr.flavor.str(), answer.holders.empty() ? ": nobody" : "");
    for (const Holder& holder : answer.holders) {
      text += holder_text(holder, fr.resource);
    }
    if (answer.more_holders > 0) {
      text += fmt::format("    and {} more\n", answer.more_holders);
    }
  }
  return text.empty() ? text : "\nHeld by\n" + text;
}

std::string nodes_text(const Explanation& explanation) {
  std::string text;
  for (const NodesAnswer& nodes : explanation.nodes) {
    text += fmt::format("  {} with flavor {}: {} of {} pods find nodes{}\n", nodes.pod_set, nodes.flavor.str(),
                        nodes.placed, nodes.wanted, nodes.text.empty() ? "" : ": " + nodes.text);
  }
  return text.empty() ? text : "\nNodes (quota aside)\n" + text;
}

std::string place_text(const Explanation& explanation) {
  std::string text;
  const auto add = [&text](const std::optional<Position>& position, const std::string& where) {
    if (position) {
      text += fmt::format("  {} of {} in {} (0 is next)\n", position->index, position->of, where);
    }
  };
  add(explanation.in_cluster_queue, "ClusterQueue " + explanation.cluster_queue.str());
  add(explanation.in_local_queue, "LocalQueue " + explanation.local_queue.str());
  return text.empty() ? text : "\nPosition\n" + text;
}

std::string cures_text(const Explanation& explanation) {
  std::string text;
  for (const framework::Cure& cure : explanation.cures) {
    text += "  " + cure.text + "\n";
  }
  return text.empty() ? text : "\nCured when one of these happens\n" + text;
}

std::string head_text(const Explanation& explanation) {
  std::string text = fmt::format("Workload {}: {}", to_string(explanation.workload), to_string(explanation.standing));
  if (!explanation.reason.empty() && explanation.reason != to_string(explanation.standing)) {
    text += ", " + explanation.reason;
  }
  if (!explanation.plugin.empty()) {
    text += " (by " + explanation.plugin + ")";
  }
  text += "\n";
  if (!explanation.local_queue.empty()) {
    text += fmt::format("LocalQueue {}, ClusterQueue {}, priority {}\n", explanation.local_queue.str(),
                        explanation.cluster_queue.empty() ? "unknown" : explanation.cluster_queue.str(),
                        explanation.priority);
  }
  if (!explanation.message.empty()) {
    text += "\n  " + explanation.message + "\n";
  }
  if (!explanation.attempt.empty() && explanation.attempt != explanation.message) {
    text += "\nTried now, alone\n  " + explanation.attempt + "\n";
  }
  return text;
}

// ---- JSON ----

Json position_json(const std::optional<Position>& position) {
  return position ? Json{{"index", position->index}, {"of", position->of}} : Json();
}

Json holder_json(const Holder& holder, const std::string& resource) {
  return {{"workload", to_string(holder.workload)},
          {"clusterQueue", holder.cluster_queue.str()},
          {"amount", format_amount(resource, holder.amount)},
          {"priority", holder.priority},
          {"claim", holder.claim},
          {"leaving", holder.leaving}};
}

const char* mode_name(framework::FitMode mode) {
  switch (mode) {
    case framework::FitMode::kFit:
      return "Fit";
    case framework::FitMode::kPreempt:
      return "Preempt";
    case framework::FitMode::kNoFit:
      break;
  }
  return "NoFit";
}

Json flavor_json(const FlavorAnswer& answer) {
  const framework::FlavorFinding& finding = answer.finding;
  Json json = {{"podSet", finding.pod_set}, {"mode", mode_name(finding.mode)}, {"message", finding.text}};
  if (!finding.flavor.empty()) {
    json["flavor"] = finding.flavor.str();
  }
  if (finding.resource.empty()) {
    return json;
  }
  json["resource"] = finding.resource;
  json["requested"] = format_amount(finding.resource, finding.requested);
  json["requestedByEarlierPodSets"] = format_amount(finding.resource, finding.earlier);
  if (finding.flavor.empty()) {
    return json;
  }
  json["available"] = format_amount(finding.resource, answer.available);
  json["missing"] = format_amount(finding.resource, answer.missing);
  json["atMost"] = format_amount(finding.resource, answer.most);
  json["exceedsMax"] = answer.exceeds;
  json["moreHolders"] = answer.more_holders;
  json["holders"] = Json::array();
  for (const Holder& holder : answer.holders) {
    json["holders"].push_back(holder_json(holder, finding.resource));
  }
  return json;
}

Json cure_json(const framework::Cure& cure) {
  Json json = {{"message", cure.text}};
  if (cure.wake) {
    json["event"] = std::string(to_string(cure.wake->kind));
    json["name"] = cure.wake->name;
  }
  return json;
}

}  // namespace

std::string to_table(const Explanation& explanation, const std::vector<std::string>& notes) {
  std::string text = head_text(explanation) + place_text(explanation) + flavors_text(explanation) +
                     holders_text(explanation) + nodes_text(explanation) + cures_text(explanation);
  for (const std::string& note : notes) {
    text += "\nNote: " + note + "\n";
  }
  return text;
}

std::string to_json(const Explanation& explanation, const std::vector<std::string>& notes) {
  Json json = {{"workload", to_string(explanation.workload)},
               {"state", std::string(to_string(explanation.standing))},
               {"localQueue", explanation.local_queue.str()},
               {"clusterQueue", explanation.cluster_queue.str()},
               {"priority", explanation.priority},
               {"plugin", explanation.plugin},
               {"reason", explanation.reason},
               {"message", explanation.message},
               {"attempt", explanation.attempt},
               {"behind", explanation.behind ? Json(to_string(*explanation.behind)) : Json()},
               {"positionInClusterQueue", position_json(explanation.in_cluster_queue)},
               {"positionInLocalQueue", position_json(explanation.in_local_queue)},
               {"flavors", Json::array()},
               {"nodes", Json::array()},
               {"cures", Json::array()},
               {"notes", notes}};
  for (const FlavorAnswer& answer : explanation.flavors) {
    json["flavors"].push_back(flavor_json(answer));
  }
  for (const NodesAnswer& nodes : explanation.nodes) {
    json["nodes"].push_back({{"podSet", nodes.pod_set},
                             {"flavor", nodes.flavor.str()},
                             {"placed", nodes.placed},
                             {"wanted", nodes.wanted},
                             {"message", nodes.text}});
  }
  for (const framework::Cure& cure : explanation.cures) {
    json["cures"].push_back(cure_json(cure));
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::cmd
