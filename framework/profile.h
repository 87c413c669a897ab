// The profile: which plugins run at which point, in which order, with which arguments. Parsed strictly from
// kube-scheduler's KubeSchedulerConfiguration shape (spec/placement.md §1.7); an unknown key, plugin, point or bad value
// is an Error with its path.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "framework/registry.h"

namespace muster::framework {

template <class Point>
struct Enabled {
  std::string name{};
  const Point* plugin = nullptr;
  std::int64_t weight = 1;
};

// The plugins of one profile, constructed. Immutable; owns its plugins.
struct Profile {
  std::string scheduler_name = "muster";
  std::vector<Enabled<PreEnqueue>> pre_enqueue{};
  std::vector<Enabled<QueueSort>> queue_sort{};  // exactly one
  std::vector<Enabled<Filter>> filter{};
  std::vector<Enabled<PostFilter>> post_filter{};
  std::vector<Enabled<Reserve>> reserve{};
  std::vector<Enabled<Permit>> permit{};
  std::vector<Enabled<Bind>> bind{};
  std::vector<Enabled<PostBind>> post_bind{};
  NodePlugins nodes{};
  std::vector<std::shared_ptr<const void>> owners{};
};

// `yaml` empty: the default profile. `default_order` lists the plugins enabled at every point they implement, in order.
Result<Profile> make_profile(std::string_view yaml, const Registry& registry,
                             const std::vector<std::string>& default_order, const PluginDeps& deps);

}  // namespace muster::framework
