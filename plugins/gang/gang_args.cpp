#include "plugins/gang/gang_args.h"

#include "api/codec/reader.h"

namespace muster::plugins::gang {
namespace {

constexpr api::EnumNames<PlacementPolicy, 2> kPolicyNames = {
    {{PlacementPolicy::kPack, "pack"}, {PlacementPolicy::kSpread, "spread"}}};

}  // namespace

Result<GangArgs> parse_gang_args(const api::Json& json) {
  api::Problems problems;
  const api::Reader reader(json, problems);
  reader.allow_only({"placement", "disabledFlavors"});
  GangArgs args{.placement = reader.one_of("placement", kPolicyNames, PlacementPolicy::kPack)};
  for (const std::string& flavor : reader.strings("disabledFlavors")) {
    args.disabled_flavors.emplace(flavor);
  }
  return std::move(problems).finish(std::move(args));
}

}  // namespace muster::plugins::gang
