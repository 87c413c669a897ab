#include "plugins/taint_toleration/taint_toleration.h"

#include "api/codec/reader.h"

#include <algorithm>

namespace muster::plugins {
namespace {

bool tolerated(const framework::PodShape& shape, const api::Taint& taint) {
  return api::tolerates(shape.pod_template->spec.tolerations, taint) || api::tolerates(shape.flavor_tolerations, taint);
}

}  // namespace

Result<std::unique_ptr<TaintToleration>> TaintToleration::create(const api::Json& args,
                                                                 const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<TaintToleration>());
}

framework::Verdict TaintToleration::filter_static(const framework::PodShape& shape,
                                                  const framework::NodeInfo& node) const {
  for (const api::Taint& taint : node.node->taints) {
    const bool repels = taint.effect == "NoSchedule" || taint.effect == "NoExecute";
    if (repels && !tolerated(shape, taint)) {
      return framework::Verdict::unresolvable("Unschedulable", "node(s) had untolerated taint(s)");
    }
  }
  return {};
}

std::int64_t TaintToleration::score(const framework::PodShape& shape, const framework::NodeInfo& node) const {
  return std::count_if(node.node->taints.begin(), node.node->taints.end(), [&shape](const api::Taint& taint) {
    return taint.effect == "PreferNoSchedule" && !tolerated(shape, taint);
  });
}

}  // namespace muster::plugins
