#include "plugins/node_ports/node_ports.h"

#include "api/codec/reader.h"

#include <algorithm>

namespace muster::plugins {

Result<std::unique_ptr<NodePorts>> NodePorts::create(const api::Json& args, const framework::PluginDeps& /*deps*/) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(std::make_unique<NodePorts>());
}

std::pair<Amount, framework::Verdict> NodePorts::capacity(const framework::PodShape& shape,
                                                          const framework::NodeInfo& node, Amount wanted) const {
  const std::vector<api::HostPort>& ports = shape.footprint.host_ports;
  if (ports.empty()) {
    return {wanted, {}};
  }
  const bool taken = std::any_of(ports.begin(), ports.end(),
                                 [&node](const api::HostPort& port) { return node.table->port_taken(node.id, port); });
  if (taken) {
    return {0, framework::Verdict::unschedulable("Unschedulable",
                                                 "node(s) didn't have free ports for the requested pod ports")};
  }
  return {std::min<Amount>(wanted, 1), {}};
}

}  // namespace muster::plugins
