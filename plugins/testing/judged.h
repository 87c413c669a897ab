// One shape against one node of a World, for tests of node plugins.
#pragma once

#include "framework/points.h"
#include "plugins/testing/world.h"

#include <nlohmann/json.hpp>

#include <string>

namespace muster::plugins::testing {

// A plugin from its arguments as JSON text; bad ones end the test.
template <class Plugin>
std::unique_ptr<Plugin> make(const std::string& args = "{}") {
  return Plugin::create(nlohmann::json::parse(args), {}).value();
}

// The shape of a pod, as a template of it would be judged.
class Shape {
 public:
  explicit Shape(const api::Pod& pod) : template_{.labels = pod.meta.labels, .spec = pod.spec} {
    shape_.pod_template = &template_;
    shape_.footprint = {.requests = api::pod_requests(pod.spec), .host_ports = pod.spec.host_ports};
  }

  Shape(const Shape&) = delete;
  Shape& operator=(const Shape&) = delete;

  framework::PodShape& shape() { return shape_; }

 private:
  api::PodTemplate template_;
  framework::PodShape shape_{};
};

inline framework::NodeInfo info(World& world, const std::string& node) {
  const framework::NodeTable& nodes = world.model().nodes();
  const framework::NodeId id = nodes.find(NodeName(node)).value();
  return {.id = id, .node = &nodes.node(id), .table = &nodes};
}

}  // namespace muster::plugins::testing
