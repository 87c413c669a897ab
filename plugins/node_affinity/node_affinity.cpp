#include "plugins/node_affinity/node_affinity.h"

#include "api/codec/decode.h"
#include "api/codec/reader.h"

#include <algorithm>
#include <optional>
#include <set>

namespace muster::plugins {
namespace {

using framework::NodeInfo;
using framework::PodShape;
using framework::Verdict;

using NodeNames = std::set<std::string>;

bool has_all(const api::StringMap& labels, const api::StringMap& wanted) {
  return std::all_of(wanted.begin(), wanted.end(), [&labels](const auto& pair) {
    const std::string* value = api::find(labels, pair.first);
    return value != nullptr && *value == pair.second;
  });
}

bool satisfies(const api::NodeAffinity& affinity, const api::Node& node) {
  return !affinity.required ||
         std::any_of(affinity.required->begin(), affinity.required->end(), [&node](const api::NodeSelectorTerm& term) {
           return api::matches(term, node.meta.labels, node.meta.name);
         });
}

// The nodes that the term names by `metadata.name In`; absent when it does not name any.
std::optional<NodeNames> named_nodes(const api::NodeSelectorTerm& term) {
  std::optional<NodeNames> names;
  for (const api::NodeSelectorRequirement& field : term.match_fields) {
    if (field.key != "metadata.name" || field.op != "In") {
      continue;
    }
    const NodeNames these(field.values.begin(), field.values.end());
    if (!names) {
      names = these;
    } else {
      std::erase_if(*names, [&these](const std::string& name) { return !these.contains(name); });
    }
  }
  return names;
}

// The only nodes the template can run on, when every one of its required terms names nodes.
std::optional<NodeNames> named_nodes(const api::NodeAffinity& affinity) {
  if (!affinity.required || affinity.required->empty()) {
    return std::nullopt;
  }
  NodeNames all;
  for (const api::NodeSelectorTerm& term : *affinity.required) {
    std::optional<NodeNames> names = named_nodes(term);
    if (!names) {
      return std::nullopt;
    }
    all.merge(*names);
  }
  return all;
}

// Whether the node is outside the nodes that the template names.
bool is_not_named(const api::NodeAffinity& affinity, const api::Node& node) {
  const std::optional<NodeNames> names = named_nodes(affinity);
  return names && !names->contains(node.meta.name);
}

std::int64_t weight_of_matches(const api::NodeAffinity& affinity, const api::Node& node) {
  std::int64_t sum = 0;
  for (const api::PreferredSchedulingTerm& term : affinity.preferred) {
    if (api::matches(term.preference, node.meta.labels, node.meta.name)) {
      sum += term.weight;
    }
  }
  return sum;
}

Result<api::NodeAffinity> parse_added_affinity(const api::Json& affinity) {
  MUSTER_TRY(spec, api::decode<api::PodSpec>(api::Json{{"affinity", {{"nodeAffinity", affinity}}}}));
  return std::move(spec.node_affinity);
}

}  // namespace

Result<std::unique_ptr<NodeAffinity>> NodeAffinity::create(const api::Json& args,
                                                           const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  const api::Reader reader(args, problems);
  reader.allow_only({"addedAffinity"});
  api::NodeAffinity added;
  if (const api::Json* affinity = reader.raw("addedAffinity")) {
    Result<api::NodeAffinity> parsed = parse_added_affinity(*affinity);
    if (parsed.ok()) {
      added = std::move(parsed).value();
    } else {
      reader.fail("addedAffinity", to_string(parsed.error()));
    }
  }
  return std::move(problems).finish(std::unique_ptr<NodeAffinity>(new NodeAffinity(std::move(added))));
}

Verdict NodeAffinity::pre_filter(const PodShape& shape) const {
  const std::optional<NodeNames> names = named_nodes(shape.pod_template->spec.node_affinity);
  if (names && names->empty()) {
    return Verdict::unresolvable("Unschedulable", "pod affinity terms conflict");
  }
  return {};
}

Verdict NodeAffinity::filter_static(const PodShape& shape, const NodeInfo& node) const {
  const api::PodSpec& spec = shape.pod_template->spec;
  const api::StringMap& labels = node.node->meta.labels;
  const bool enforced = satisfies(added_, *node.node);
  if (enforced && has_all(labels, shape.flavor_labels) && has_all(labels, spec.node_selector) &&
      satisfies(spec.node_affinity, *node.node)) {
    return {};
  }
  if (is_not_named(spec.node_affinity, *node.node)) {
    return Verdict::unresolvable("Unschedulable", "node(s) didn't satisfy plugin(s) [NodeAffinity]");
  }
  return Verdict::unresolvable("Unschedulable", enforced ? "node(s) didn't match Pod's node affinity/selector"
                                                         : "node(s) didn't match scheduler-enforced node affinity");
}

std::int64_t NodeAffinity::score(const PodShape& shape, const NodeInfo& node) const {
  return weight_of_matches(shape.pod_template->spec.node_affinity, *node.node) + weight_of_matches(added_, *node.node);
}

}  // namespace muster::plugins
