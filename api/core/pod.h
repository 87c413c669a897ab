// Pods and pod templates reduced to what decides about them: requests, placement rules, priority. env, args, volumes'
// contents and managedFields are dropped while decoding (api/codec). Plain values.
#pragma once

#include "api/core/meta.h"
#include "base/arith.h"
#include "base/ids.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::api {

// Amounts by resource, in base units (base/quantity.h). Ordered by name: iteration order is part of our determinism.
using ResourceAmounts = std::map<std::string, Amount>;

struct Toleration {
  std::string key{};
  std::string op{};  // empty means Equal
  std::string value{};
  std::string effect{};
  std::optional<std::int64_t> toleration_seconds{};
  friend bool operator==(const Toleration&, const Toleration&) = default;
};

struct Taint {
  std::string key{};
  std::string value{};
  std::string effect{};
  std::optional<TimePoint> time_added{};
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct NodeSelectorRequirement {
  std::string key{};
  std::string op{};  // In, NotIn, Exists, DoesNotExist, Gt, Lt
  std::vector<std::string> values{};
  friend bool operator==(const NodeSelectorRequirement&, const NodeSelectorRequirement&) = default;
};

struct NodeSelectorTerm {
  std::vector<NodeSelectorRequirement> match_expressions{};
  std::vector<NodeSelectorRequirement> match_fields{};
  friend bool operator==(const NodeSelectorTerm&, const NodeSelectorTerm&) = default;
};

struct PreferredSchedulingTerm {
  std::int32_t weight = 0;
  NodeSelectorTerm preference{};
  friend bool operator==(const PreferredSchedulingTerm&, const PreferredSchedulingTerm&) = default;
};

struct NodeAffinity {
  // Present with an empty list matches no node; absent matches all.
  std::optional<std::vector<NodeSelectorTerm>> required{};
  std::vector<PreferredSchedulingTerm> preferred{};
  friend bool operator==(const NodeAffinity&, const NodeAffinity&) = default;
};

struct HostPort {
  std::string ip{};  // empty means 0.0.0.0
  std::string protocol{};
  std::int32_t port = 0;
  friend auto operator<=>(const HostPort&, const HostPort&) = default;
};

struct Container {
  std::string name{};
  ResourceAmounts requests{};
  ResourceAmounts limits{};
  bool restartable_init = false;  // init container with restartPolicy Always: a sidecar
  friend bool operator==(const Container&, const Container&) = default;
};

struct PodSpec {
  std::vector<Container> init_containers{};
  std::vector<Container> containers{};
  std::optional<ResourceAmounts> pod_requests{};  // spec.resources.requests
  std::optional<ResourceAmounts> pod_limits{};
  ResourceAmounts overhead{};
  StringMap node_selector{};
  NodeAffinity node_affinity{};
  std::vector<Toleration> tolerations{};
  std::vector<HostPort> host_ports{};  // of containers and sidecars, sorted
  std::string scheduler_name{};
  std::string node_name{};
  std::string priority_class_name{};
  std::optional<std::int32_t> priority{};
  std::string runtime_class_name{};
  std::vector<std::string> scheduling_gates{};
  // Names of placement fields that Muster's binder does not implement yet (`spec.affinity.podAffinity`, …): such a pod
  // is unschedulable with a message naming the field, never placed while ignoring it.
  std::vector<std::string> unsupported_placement_fields{};
  // Hashes of the canonical JSON of `containers` and `initContainers`: spec/workloads.md §1.2 compares these whole.
  std::array<std::uint64_t, 2> containers_hash{};
  std::array<std::uint64_t, 2> init_containers_hash{};
  friend bool operator==(const PodSpec&, const PodSpec&) = default;
};

struct PodTemplate {
  StringMap labels{};
  StringMap annotations{};
  PodSpec spec{};
  friend bool operator==(const PodTemplate&, const PodTemplate&) = default;
};

struct Pod {
  ObjectMeta meta{};
  PodSpec spec{};
  std::string phase{};  // Pending, Running, Succeeded, Failed, Unknown
  Conditions conditions{};
  std::string nominated_node_name{};
  std::string status_reason{};
  friend bool operator==(const Pod&, const Pod&) = default;
};

bool is_terminal(const Pod& pod);

// What one pod asks for: the rule of spec/placement.md §2.4 (sidecars, init peaks, pod-level requests, overhead).
ResourceAmounts pod_requests(const PodSpec& spec);

// Key, operator and effect rules of spec/placement.md §2.2; Gt and Lt never match.
bool tolerates(const Toleration& toleration, const Taint& taint);
bool tolerates(const std::vector<Toleration>& tolerations, const Taint& taint);

// Node labels against one term or requirement (spec/placement.md §2.3); `node_name` serves metadata.name fields.
bool matches(const NodeSelectorRequirement& requirement, const StringMap& labels);
bool matches(const NodeSelectorTerm& term, const StringMap& labels, const std::string& node_name);

}  // namespace muster::api
