// Nodes, namespaces and the small cluster kinds that change a pod's requests or priority.
#include "api/codec/decode.h"
#include "api/codec/parts.h"
#include "api/core/node.h"

namespace muster::api {

template <>
Result<Node> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  const Reader status = root.child("status");
  Node node{.meta = read_meta(root),
            .unschedulable = spec.boolean("unschedulable"),
            .taints = read_taints(spec, "taints"),
            .allocatable = status.amounts("allocatable"),
            .ready = is_true(read_conditions(status), "Ready")};
  return std::move(problems).finish(std::move(node));
}

template <>
Result<Namespace> decode(const Json& object) {
  Problems problems;
  Namespace result{.meta = read_meta(Reader(object, problems))};
  return std::move(problems).finish(std::move(result));
}

template <>
Result<PriorityClass> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  PriorityClass result{
      .meta = read_meta(root), .value = root.int32("value"), .global_default = root.boolean("globalDefault")};
  return std::move(problems).finish(std::move(result));
}

template <>
Result<RuntimeClass> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  RuntimeClass result{.meta = read_meta(root), .overhead = root.child("overhead").amounts("podFixed")};
  return std::move(problems).finish(std::move(result));
}

template <>
Result<LimitRange> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  LimitRange result{.meta = read_meta(root), .limits = root.child("spec").list("limits", [](const Reader& item) {
                      return LimitRangeItem{.type = item.text("type"),
                                            .max = item.amounts("max"),
                                            .min = item.amounts("min"),
                                            .defaults = item.amounts("default"),
                                            .default_request = item.amounts("defaultRequest")};
                    })};
  return std::move(problems).finish(std::move(result));
}

}  // namespace muster::api
