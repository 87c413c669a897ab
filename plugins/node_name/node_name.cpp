#include "plugins/node_name/node_name.h"

#include "api/codec/reader.h"

namespace muster::plugins {

Result<std::unique_ptr<RequestedNodeName>> RequestedNodeName::create(const api::Json& args,
                                                                     const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<RequestedNodeName>());
}

framework::Verdict RequestedNodeName::filter_static(const framework::PodShape& shape,
                                                    const framework::NodeInfo& node) const {
  const std::string& wanted = shape.pod_template->spec.node_name;
  if (wanted.empty() || wanted == node.node->meta.name) {
    return {};
  }
  return framework::Verdict::unresolvable("Unschedulable", "node(s) didn't match the requested node name");
}

}  // namespace muster::plugins
