// Nodes, namespaces, and the small core kinds that change a pod's requests or priority. Plain values.
#pragma once

#include "api/core/meta.h"
#include "api/core/pod.h"

#include <string>
#include <vector>

namespace muster::api {

struct Node {
  ObjectMeta meta{};
  bool unschedulable = false;
  std::vector<Taint> taints{};
  ResourceAmounts allocatable{};  // includes `pods`
  bool ready = false;             // condition Ready is True
  friend bool operator==(const Node&, const Node&) = default;
};

struct Namespace {
  ObjectMeta meta{};
  friend bool operator==(const Namespace&, const Namespace&) = default;
};

struct PriorityClass {  // scheduling.k8s.io/v1
  ObjectMeta meta{};
  std::int32_t value = 0;
  bool global_default = false;
  friend bool operator==(const PriorityClass&, const PriorityClass&) = default;
};

struct RuntimeClass {  // node.k8s.io/v1
  ObjectMeta meta{};
  ResourceAmounts overhead{};
  friend bool operator==(const RuntimeClass&, const RuntimeClass&) = default;
};

struct LimitRangeItem {
  std::string type{};  // Container, Pod, PersistentVolumeClaim
  ResourceAmounts max{};
  ResourceAmounts min{};
  ResourceAmounts defaults{};
  ResourceAmounts default_request{};
  friend bool operator==(const LimitRangeItem&, const LimitRangeItem&) = default;
};

struct LimitRange {
  ObjectMeta meta{};
  std::vector<LimitRangeItem> limits{};
  friend bool operator==(const LimitRange&, const LimitRange&) = default;
};

}  // namespace muster::api
