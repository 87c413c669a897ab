// Arguments of the Gang plugin. Plain values.
#pragma once

#include "api/codec/json.h"
#include "base/ids.h"

#include <set>

namespace muster::plugins::gang {

enum class PlacementPolicy {
  kPack,    // fill nodes: preferred ones first, then those that take the most pods
  kSpread,  // one pod at a time, each where the profile's scores are highest
};

struct GangArgs {
  PlacementPolicy placement = PlacementPolicy::kPack;
  // Podsets with one of these flavors are not placed: kube-scheduler or an autoscaler provides their nodes.
  std::set<FlavorName> disabled_flavors{};
};

Result<GangArgs> parse_gang_args(const api::Json& args);

}  // namespace muster::plugins::gang
