#include "plugins/node_unschedulable/node_unschedulable.h"

#include "api/codec/reader.h"

namespace muster::plugins {

Result<std::unique_ptr<NodeUnschedulable>> NodeUnschedulable::create(const api::Json& args,
                                                                     const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<NodeUnschedulable>());
}

framework::Verdict NodeUnschedulable::filter_static(const framework::PodShape& shape,
                                                    const framework::NodeInfo& node) const {
  if (!node.node->unschedulable) {
    return {};
  }
  static const api::Taint kCordon{.key = "node.kubernetes.io/unschedulable", .effect = "NoSchedule"};
  if (api::tolerates(shape.pod_template->spec.tolerations, kCordon) ||
      api::tolerates(shape.flavor_tolerations, kCordon)) {
    return {};
  }
  return framework::Verdict::unresolvable("Unschedulable", "node(s) were unschedulable");
}

}  // namespace muster::plugins
