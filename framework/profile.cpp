#include "framework/profile.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <type_traits>

#include "api/codec/yaml.h"

namespace muster::framework {

namespace {

using api::Json;

struct PluginRef {
  std::string name{};
  std::optional<std::int64_t> weight{};
  bool by_default = false;  // not named by the profile
};

struct PointConfig {
  std::vector<PluginRef> enabled{};
  std::vector<std::string> disabled{};

  bool disables(const std::string& name) const {
    return std::any_of(disabled.begin(), disabled.end(), [&](const auto& d) { return d == "*" || d == name; });
  }
};

struct ParsedProfile {
  std::string scheduler_name = "muster";
  std::map<std::string, PointConfig> points{};
  std::map<std::string, Json> args{};
};

const std::vector<std::string> kPoints = {"preEnqueue", "queueSort", "filter",   "postFilter", "reserve",   "permit",
                                          "bind",       "postBind",  "nodeFilter", "nodeScore",  "multiPoint"};

Status only_keys(const Json& object, const std::string& path, const std::vector<std::string>& allowed) {
  if (!object.is_object()) {
    return invalid("must be an object", path);
  }
  for (const auto& [key, value] : object.items()) {
    if (std::find(allowed.begin(), allowed.end(), key) == allowed.end()) {
      return invalid(fmt::format("unknown field \"{}\"", key), path.empty() ? key : path + "." + key);
    }
  }
  return {};
}

const Json* member(const Json& object, const std::string& key) {
  const auto it = object.find(key);
  return it == object.end() || it->is_null() ? nullptr : &*it;
}

Result<std::string> text(const Json& object, const std::string& key, const std::string& path) {
  const Json* value = member(object, key);
  if (value == nullptr || !value->is_string() || value->get_ref<const std::string&>().empty()) {
    return invalid("must be a non-empty string", path + "." + key);
  }
  return value->get<std::string>();
}

// An integer between `low` and `high`, when the key is there.
Status int_range(const Json& object, const std::string& key, std::int64_t low, std::int64_t high) {
  const Json* value = member(object, key);
  if (value == nullptr) {
    return {};
  }
  const bool fits = value->is_number_integer() && (!value->is_number_unsigned() || value->get<std::uint64_t>() <= INT64_MAX);
  if (!fits || value->get<std::int64_t>() < low || value->get<std::int64_t>() > high) {
    return invalid(fmt::format("must be an integer from {} to {}", low, high), key);
  }
  return {};
}

Result<std::vector<PluginRef>> parse_refs(const Json& point, const std::string& list, const std::string& path) {
  std::vector<PluginRef> refs;
  const Json* items = member(point, list);
  if (items == nullptr) {
    return refs;
  }
  if (!items->is_array()) {
    return invalid("must be a list", path + "." + list);
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    const std::string at = fmt::format("{}.{}[{}]", path, list, i);
    MUSTER_RETURN_IF_ERROR(only_keys((*items)[i], at, {"name", "weight"}));
    MUSTER_TRY(name, text((*items)[i], "name", at));
    if (Status status = int_range((*items)[i], "weight", 0, INT32_MAX); !status.ok()) {
      return at_path(status.error(), at);
    }
    if (std::any_of(refs.begin(), refs.end(), [&](const PluginRef& r) { return r.name == name; })) {
      return invalid(fmt::format("plugin \"{}\" is listed twice", name), at);
    }
    PluginRef ref{.name = name};
    if (const Json* weight = member((*items)[i], "weight"); weight != nullptr && weight->get<std::int64_t>() > 0) {
      ref.weight = weight->get<std::int64_t>();
    }
    refs.push_back(std::move(ref));
  }
  return refs;
}

Result<PointConfig> parse_point(const Json& point, const std::string& path) {
  MUSTER_RETURN_IF_ERROR(only_keys(point, path, {"enabled", "disabled"}));
  PointConfig config;
  MUSTER_TRY(enabled, parse_refs(point, "enabled", path));
  MUSTER_TRY(disabled, parse_refs(point, "disabled", path));
  config.enabled = std::move(enabled);
  for (PluginRef& ref : disabled) {
    config.disabled.push_back(std::move(ref.name));
  }
  return config;
}

Status parse_plugin_config(const Json& list, const std::string& path, ParsedProfile& out) {
  if (!list.is_array()) {
    return invalid("must be a list", path);
  }
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string at = fmt::format("{}[{}]", path, i);
    MUSTER_RETURN_IF_ERROR(only_keys(list[i], at, {"name", "args"}));
    MUSTER_TRY(name, text(list[i], "name", at));
    Json args = Json::object();
    if (const Json* given = member(list[i], "args")) {
      if (!given->is_object()) {
        return invalid("must be an object", at + ".args");
      }
      args = Json(*given);
      args.erase("apiVersion");  // kube-scheduler's files carry them
      args.erase("kind");
    }
    if (!out.args.emplace(name, std::move(args)).second) {
      return invalid(fmt::format("plugin \"{}\" is configured twice", name), at);
    }
  }
  return {};
}

Result<ParsedProfile> parse_one(const Json& profile, const std::string& path) {
  MUSTER_RETURN_IF_ERROR(
      only_keys(profile, path, {"schedulerName", "plugins", "pluginConfig", "percentageOfNodesToScore"}));
  ParsedProfile out;
  if (Status status = int_range(profile, "percentageOfNodesToScore", 0, 100); !status.ok()) {
    return at_path(status.error(), path);
  }
  MUSTER_TRY(name, text(profile, "schedulerName", path));
  if (name != out.scheduler_name) {
    return invalid(fmt::format("must be \"muster\", got \"{}\"", name), path + ".schedulerName");
  }
  if (const Json* plugins = member(profile, "plugins")) {
    MUSTER_RETURN_IF_ERROR(only_keys(*plugins, path + ".plugins", kPoints));
    for (const auto& [point, config] : plugins->items()) {
      MUSTER_TRY(parsed, parse_point(config, path + ".plugins." + point));
      out.points[point] = std::move(parsed);
    }
  }
  if (const Json* config = member(profile, "pluginConfig")) {
    MUSTER_RETURN_IF_ERROR(parse_plugin_config(*config, path + ".pluginConfig", out));
  }
  return out;
}

Status check_header(const Json& document) {
  MUSTER_RETURN_IF_ERROR(
      only_keys(document, "",
                {"apiVersion", "kind", "profiles", "parallelism", "percentageOfNodesToScore", "podInitialBackoffSeconds",
                 "podMaxBackoffSeconds", "clientConnection", "leaderElection", "delayCacheUntilActive", "enableProfiling",
                 "enableContentionProfiling", "extenders"}));
  MUSTER_TRY(version, text(document, "apiVersion", ""));
  MUSTER_TRY(kind, text(document, "kind", ""));
  if (version != "kubescheduler.config.k8s.io/v1") {
    return invalid(fmt::format("must be \"kubescheduler.config.k8s.io/v1\", got \"{}\"", version), "apiVersion");
  }
  if (kind != "KubeSchedulerConfiguration") {
    return invalid(fmt::format("must be \"KubeSchedulerConfiguration\", got \"{}\"", kind), "kind");
  }
  if (member(document, "extenders") != nullptr) {
    return invalid("extenders are not supported: write a plugin (docs/write-your-first-plugin.md)", "extenders");
  }
  MUSTER_RETURN_IF_ERROR(int_range(document, "parallelism", 1, INT32_MAX));
  MUSTER_RETURN_IF_ERROR(int_range(document, "percentageOfNodesToScore", 0, 100));
  MUSTER_RETURN_IF_ERROR(int_range(document, "podInitialBackoffSeconds", 1, INT32_MAX));
  MUSTER_RETURN_IF_ERROR(int_range(document, "podMaxBackoffSeconds", 1, INT32_MAX));
  return {};
}

Result<ParsedProfile> parse(std::string_view yaml) {
  if (yaml.empty()) {
    return ParsedProfile{};
  }
  MUSTER_TRY(documents, api::yaml_to_json(yaml));
  if (documents.size() != 1) {
    return invalid(fmt::format("expected one YAML document, got {}", documents.size()));
  }
  MUSTER_RETURN_IF_ERROR(check_header(documents[0]));
  const Json* profiles = member(documents[0], "profiles");
  if (profiles == nullptr) {
    return ParsedProfile{};
  }
  if (!profiles->is_array() || profiles->size() != 1) {
    return invalid("must hold exactly one profile", "profiles");
  }
  return parse_one((*profiles)[0], "profiles[0]");
}

// Constructs each plugin once, whatever the number of its points.
class Instances {
 public:
  Instances(const Registry& registry, const PluginDeps& deps, const ParsedProfile& profile)
      : registry_(registry), deps_(deps), profile_(profile) {}

  Result<PluginInstance> get(const std::string& name, const std::string& path) {
    if (const auto it = made_.find(name); it != made_.end()) {
      return it->second;
    }
    const Registry::Factory* factory = registry_.find(name);
    if (factory == nullptr) {
      return invalid(fmt::format("unknown plugin \"{}\"", name), path);
    }
    const auto args = profile_.args.find(name);
    Result<PluginInstance> made = (*factory)(args == profile_.args.end() ? Json::object() : args->second, deps_);
    if (!made.ok()) {
      return at_path(made.error(), fmt::format("profiles[0].pluginConfig[{}].args", name));
    }
    made_.emplace(name, *made);
    return made;
  }

  const std::map<std::string, PluginInstance>& all() const { return made_; }

 private:
  const Registry& registry_;
  const PluginDeps& deps_;
  const ParsedProfile& profile_;
  std::map<std::string, PluginInstance> made_{};
};

// kube-scheduler's expansion (spec/placement.md §1.7): plugins named in both places keep the point's own order and come
// first, then the rest of multiPoint, then the rest of the point's own list.
std::vector<PluginRef> expand(const std::vector<PluginRef>& multi, const PointConfig& own) {
  const auto in = [](const std::vector<PluginRef>& list, const std::string& name) {
    return std::any_of(list.begin(), list.end(), [&](const PluginRef& r) { return r.name == name; });
  };
  std::vector<PluginRef> out;
  for (const PluginRef& ref : own.enabled) {
    if (in(multi, ref.name)) {
      out.push_back(ref);
    }
  }
  for (const PluginRef& ref : multi) {
    if (!in(own.enabled, ref.name) && !own.disables(ref.name)) {
      out.push_back(ref);
    }
  }
  for (const PluginRef& ref : own.enabled) {
    if (!in(multi, ref.name)) {
      out.push_back(ref);
    }
  }
  return out;
}

std::vector<PluginRef> multi_point(const std::vector<std::string>& default_order, const PointConfig& own) {
  std::vector<PluginRef> out;
  for (const std::string& name : default_order) {
    const auto own_ref = std::find_if(own.enabled.begin(), own.enabled.end(), [&](const auto& r) { return r.name == name; });
    if (own_ref != own.enabled.end()) {
      out.push_back(*own_ref);
    } else if (!own.disables(name)) {
      out.push_back({.name = name, .by_default = true});
    }
  }
  for (const PluginRef& ref : own.enabled) {
    if (std::none_of(out.begin(), out.end(), [&](const PluginRef& r) { return r.name == ref.name; })) {
      out.push_back(ref);
    }
  }
  return out;
}

// A plugin that the profile names without a weight counts 1, as in kube-scheduler.
template <class Point>
std::int64_t weight_of(const PluginRef& ref, [[maybe_unused]] const Point& plugin) {
  if constexpr (std::is_same_v<Point, NodeScore>) {
    return ref.weight.value_or(ref.by_default ? plugin.default_weight() : 1);
  } else {
    return ref.weight.value_or(1);
  }
}

class Builder {
 public:
  Builder(const ParsedProfile& parsed, Instances& instances, std::vector<PluginRef> multi)
      : parsed_(parsed), instances_(instances), multi_(std::move(multi)) {}

  template <class Point>
  Result<std::vector<Enabled<Point>>> point(const std::string& name, const Point* PluginInstance::*pointer) {
    static const PointConfig kNothing{};
    const auto it = parsed_.points.find(name);
    const PointConfig& own = it == parsed_.points.end() ? kNothing : it->second;
    std::vector<Enabled<Point>> out;
    for (const PluginRef& ref : expand(multi_, own)) {
      const bool named_here =
          std::any_of(own.enabled.begin(), own.enabled.end(), [&](const PluginRef& r) { return r.name == ref.name; });
      const std::string path = "profiles[0].plugins." + (named_here ? name : "multiPoint");
      MUSTER_TRY(instance, instances_.get(ref.name, path));
      if (instance.*pointer != nullptr) {
        out.push_back({ref.name, instance.*pointer, weight_of(ref, *(instance.*pointer))});
      } else if (named_here) {
        return invalid(fmt::format("plugin \"{}\" does not implement this point", ref.name), path);
      }
    }
    return out;
  }

 private:
  const ParsedProfile& parsed_;
  Instances& instances_;
  std::vector<PluginRef> multi_;
};

Status fill(Builder& builder, Profile& profile) {
  MUSTER_TRY(pre_enqueue, builder.point("preEnqueue", &PluginInstance::pre_enqueue));
  MUSTER_TRY(queue_sort, builder.point("queueSort", &PluginInstance::queue_sort));
  MUSTER_TRY(filter, builder.point("filter", &PluginInstance::filter));
  MUSTER_TRY(post_filter, builder.point("postFilter", &PluginInstance::post_filter));
  MUSTER_TRY(reserve, builder.point("reserve", &PluginInstance::reserve));
  MUSTER_TRY(permit, builder.point("permit", &PluginInstance::permit));
  MUSTER_TRY(bind, builder.point("bind", &PluginInstance::bind));
  MUSTER_TRY(post_bind, builder.point("postBind", &PluginInstance::post_bind));
  MUSTER_TRY(node_filter, builder.point("nodeFilter", &PluginInstance::node_filter));
  MUSTER_TRY(node_score, builder.point("nodeScore", &PluginInstance::node_score));
  if (queue_sort.size() != 1) {
    return invalid(fmt::format("exactly one plugin must be enabled, got {}", queue_sort.size()),
                   "profiles[0].plugins.queueSort");
  }
  if (filter.empty()) {
    return invalid("at least one plugin must be enabled: without one nothing is ever assigned",
                   "profiles[0].plugins.filter");
  }
  profile.pre_enqueue = std::move(pre_enqueue);
  profile.queue_sort = std::move(queue_sort);
  profile.filter = std::move(filter);
  profile.post_filter = std::move(post_filter);
  profile.reserve = std::move(reserve);
  profile.permit = std::move(permit);
  profile.bind = std::move(bind);
  profile.post_bind = std::move(post_bind);
  for (const auto& entry : node_filter) {
    profile.nodes.filters.push_back({entry.name, entry.plugin});
  }
  for (const auto& entry : node_score) {
    profile.nodes.scores.push_back({entry.name, entry.plugin, entry.weight});
  }
  return {};
}

}  // namespace

Result<Profile> make_profile(std::string_view yaml, const Registry& registry,
                             const std::vector<std::string>& default_order, const PluginDeps& deps) {
  MUSTER_RETURN_IF_ERROR(registry.check());
  MUSTER_TRY(parsed, parse(yaml));
  for (const auto& [name, args] : parsed.args) {
    if (registry.find(name) == nullptr) {
      return invalid(fmt::format("unknown plugin \"{}\"", name), "profiles[0].pluginConfig");
    }
  }
  for (const auto& [point, config] : parsed.points) {
    for (const std::string& name : config.disabled) {
      if (name != "*" && registry.find(name) == nullptr) {
        return invalid(fmt::format("unknown plugin \"{}\"", name), fmt::format("profiles[0].plugins.{}.disabled", point));
      }
    }
  }
  Instances instances(registry, deps, parsed);
  Builder builder(parsed, instances, multi_point(default_order, parsed.points["multiPoint"]));
  Profile profile{.scheduler_name = parsed.scheduler_name};
  MUSTER_RETURN_IF_ERROR(fill(builder, profile));
  for (const auto& [name, instance] : instances.all()) {
    profile.owners.push_back(instance.owner);
  }
  return profile;
}

}  // namespace muster::framework
