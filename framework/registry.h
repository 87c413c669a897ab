// The plugins this binary knows: name -> factory. Filled explicitly (plugins/register_all.cpp and, out of tree,
// muster::run's list); a name registered twice is an error at start. Not a singleton: whoever builds a Core owns one.
#pragma once

#include <concepts>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/codec/json.h"
#include "api/config/configuration.h"
#include "base/result.h"
#include "framework/points.h"

namespace muster::framework {

// What a plugin is given besides its arguments: settings of the manager that change decisions. No client, no clock.
struct PluginDeps {
  std::map<std::string, bool> feature_gates{};
  std::optional<api::FairSharingConfig> fair_sharing{};  // present: on
  bool ignore_undeclared_resources = false;  // resources.quotaCheckStrategy is IgnoreUndeclared
  bool feature(const std::string& gate, bool by_default) const {
    const auto it = feature_gates.find(gate);
    return it == feature_gates.end() ? by_default : it->second;
  }
};

// One constructed plugin: a pointer a point it implements, all into `owner`.
struct PluginInstance {
  std::shared_ptr<const void> owner{};
  const PreEnqueue* pre_enqueue = nullptr;
  const QueueSort* queue_sort = nullptr;
  const Filter* filter = nullptr;
  const PostFilter* post_filter = nullptr;
  const Reserve* reserve = nullptr;
  const Permit* permit = nullptr;
  const Bind* bind = nullptr;
  const PostBind* post_bind = nullptr;
  const NodeFilter* node_filter = nullptr;
  const NodeScore* node_score = nullptr;
};

template <class P>
concept ImplementsSomePoint =
    std::derived_from<P, PreEnqueue> || std::derived_from<P, QueueSort> || std::derived_from<P, Filter> ||
    std::derived_from<P, PostFilter> || std::derived_from<P, Reserve> || std::derived_from<P, Permit> ||
    std::derived_from<P, Bind> || std::derived_from<P, PostBind> || std::derived_from<P, NodeFilter> ||
    std::derived_from<P, NodeScore>;

// P::kName is the name in profiles; P::create parses the arguments (an object, `{}` when none are given) strictly.
template <class P>
concept Plugin = ImplementsSomePoint<P> && requires(const api::Json& args, const PluginDeps& deps) {
  { P::kName } -> std::convertible_to<std::string_view>;
  { P::create(args, deps) } -> std::same_as<Result<std::unique_ptr<P>>>;
};

class Registry {
 public:
  using Factory = std::function<Result<PluginInstance>(const api::Json& args, const PluginDeps& deps)>;

  // Remembers a duplicate as an error that `check` returns; so that registration lists read as lists.
  template <Plugin P>
  Registry& add() {
    return add(std::string(P::kName), [](const api::Json& args, const PluginDeps& deps) -> Result<PluginInstance> {
      MUSTER_TRY(plugin, P::create(args, deps));
      return instance(std::shared_ptr<const P>(std::move(plugin)));
    });
  }

  Registry& add(std::string name, Factory factory);
  Status check() const;
  const Factory* find(const std::string& name) const;
  std::vector<std::string> names() const;

 private:
  template <class Point, class P>
  static const Point* as(const P* plugin) {
    if constexpr (std::derived_from<P, Point>) {
      return plugin;
    } else {
      return nullptr;
    }
  }

  template <class P>
  static PluginInstance instance(std::shared_ptr<const P> plugin) {
    const P* p = plugin.get();
    return PluginInstance{.owner = plugin,
                          .pre_enqueue = as<PreEnqueue>(p),
                          .queue_sort = as<QueueSort>(p),
                          .filter = as<Filter>(p),
                          .post_filter = as<PostFilter>(p),
                          .reserve = as<Reserve>(p),
                          .permit = as<Permit>(p),
                          .bind = as<Bind>(p),
                          .post_bind = as<PostBind>(p),
                          .node_filter = as<NodeFilter>(p),
                          .node_score = as<NodeScore>(p)};
  }

  std::map<std::string, Factory> factories_{};
  std::vector<std::string> duplicates_{};
};

}  // namespace muster::framework
