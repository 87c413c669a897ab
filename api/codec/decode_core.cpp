#include "api/codec/decode.h"
#include "api/codec/parts.h"
#include "api/core/node.h"

#include <algorithm>

namespace muster::api {
namespace {

constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";

std::vector<NodeSelectorRequirement> read_requirements(const Reader& term, std::string_view key) {
  return term.list(key, [](const Reader& requirement) {
    return NodeSelectorRequirement{
        .key = requirement.text("key"), .op = requirement.text("operator"), .values = requirement.strings("values")};
  });
}

NodeSelectorTerm read_term(const Reader& term) {
  return {.match_expressions = read_requirements(term, "matchExpressions"),
          .match_fields = read_requirements(term, "matchFields")};
}

NodeAffinity read_node_affinity(const Reader& affinity) {
  NodeAffinity result;
  if (const Reader required = affinity.child(kRequired); required.present()) {
    result.required = required.list("nodeSelectorTerms", read_term);
  }
  result.preferred = affinity.list(kPreferred, [](const Reader& term) {
    return PreferredSchedulingTerm{.weight = term.int32("weight"), .preference = read_term(term.child("preference"))};
  });
  return result;
}

Container read_container(const Reader& container) {
  const Reader resources = container.child("resources");
  return {.name = container.text("name"),
          .requests = resources.amounts("requests"),
          .limits = resources.amounts("limits"),
          .restartable_init = container.text("restartPolicy") == "Always"};
}

// Ports that `containers` (only sidecars of them, when asked) take on the node.
void add_host_ports(const Reader& spec, std::string_view key, bool sidecars_only, std::vector<HostPort>& ports) {
  spec.list(key, [&](const Reader& container) {
    if (!sidecars_only || container.text("restartPolicy") == "Always") {
      container.list("ports", [&](const Reader& port) {
        if (const std::int32_t number = port.int32("hostPort"); number > 0) {
          ports.push_back({.ip = port.text("hostIP"), .protocol = port.text("protocol", "TCP"), .port = number});
        }
        return 0;
      });
    }
    return 0;
  });
}

std::vector<HostPort> read_host_ports(const Reader& spec) {
  std::vector<HostPort> ports;
  add_host_ports(spec, "containers", false, ports);
  add_host_ports(spec, "initContainers", true, ports);
  std::sort(ports.begin(), ports.end());
  ports.erase(std::unique(ports.begin(), ports.end()), ports.end());
  return ports;
}

bool has_items(const Reader& parent, std::string_view key) {
  const Json* member = parent.raw(key);
  return member != nullptr && !member->empty();
}

std::vector<std::string> unsupported_volumes(const Reader& spec) {
  std::vector<std::string> fields;
  spec.list("volumes", [&fields](const Reader& volume) {
    for (const std::string_view source :
         {"persistentVolumeClaim", "ephemeral", "awsElasticBlockStore", "gcePersistentDisk", "iscsi", "rbd"}) {
      if (volume.has(source)) {
        fields.push_back("spec.volumes[" + volume.text("name") + "]." + std::string(source));
      }
    }
    return 0;
  });
  return fields;
}

// Fields that restrict where a pod may run and that Muster's own binder does not judge yet.
std::vector<std::string> read_unsupported(const Reader& spec) {
  std::vector<std::string> fields = unsupported_volumes(spec);
  const Reader affinity = spec.child("affinity");
  for (const std::string_view kind : {"podAffinity", "podAntiAffinity"}) {
    if (has_items(affinity.child(kind), kRequired)) {
      fields.push_back("spec.affinity." + std::string(kind) + "." + std::string(kRequired));
    }
  }
  bool hard_spread = false;
  spec.list("topologySpreadConstraints", [&hard_spread](const Reader& constraint) {
    return hard_spread |= constraint.text("whenUnsatisfiable", "DoNotSchedule") == "DoNotSchedule";
  });
  if (hard_spread) {
    fields.emplace_back("spec.topologySpreadConstraints");
  }
  if (has_items(spec, "resourceClaims")) {
    fields.emplace_back("spec.resourceClaims");
  }
  std::sort(fields.begin(), fields.end());
  return fields;
}

std::optional<ResourceAmounts> read_pod_level(const Reader& spec, std::string_view key) {
  const Reader resources = spec.child("resources");
  return resources.has(key) ? std::optional(resources.amounts(key)) : std::nullopt;
}

}  // namespace

ObjectMeta read_meta(const Reader& object) {
  const Reader meta = object.child("metadata");
  ObjectMeta result{.ns = meta.text("namespace"),
                    .name = meta.text("name"),
                    .uid = Uid(meta.text("uid")),
                    .resource_version = meta.text("resourceVersion"),
                    .generation = meta.int64("generation"),
                    .creation_timestamp = meta.time("creationTimestamp"),
                    .deletion_timestamp = meta.maybe_time("deletionTimestamp"),
                    .labels = meta.string_map("labels"),
                    .annotations = meta.string_map("annotations"),
                    .owner_references = meta.list("ownerReferences",
                                                  [](const Reader& owner) {
                                                    return OwnerReference{.api_version = owner.text("apiVersion"),
                                                                          .kind = owner.text("kind"),
                                                                          .name = owner.text("name"),
                                                                          .uid = Uid(owner.text("uid")),
                                                                          .controller = owner.boolean("controller")};
                                                  }),
                    .finalizers = meta.strings("finalizers")};
  result.annotations.erase(std::string(kLastApplied));
  return result;
}

Conditions read_conditions(const Reader& status) {
  return status.list("conditions", [](const Reader& condition) {
    return Condition{.type = condition.text("type"),
                     .status = condition.one_of("status", kConditionStatusNames, ConditionStatus::kUnknown),
                     .reason = condition.text("reason"),
                     .message = condition.text("message"),
                     .last_transition_time = condition.time("lastTransitionTime"),
                     .observed_generation = condition.int64("observedGeneration")};
  });
}

std::vector<Taint> read_taints(const Reader& parent, std::string_view key) {
  return parent.list(key, [](const Reader& taint) {
    return Taint{.key = taint.text("key"),
                 .value = taint.text("value"),
                 .effect = taint.text("effect"),
                 .time_added = taint.maybe_time("timeAdded")};
  });
}

std::vector<Toleration> read_tolerations(const Reader& parent) {
  return parent.list("tolerations", [](const Reader& toleration) {
    return Toleration{.key = toleration.text("key"),
                      .op = toleration.text("operator"),
                      .value = toleration.text("value"),
                      .effect = toleration.text("effect"),
                      .toleration_seconds = toleration.maybe_int64("tolerationSeconds")};
  });
}

LabelSelector read_label_selector(const Reader& selector) {
  return {.match_labels = selector.string_map("matchLabels"),
          .match_expressions = selector.list("matchExpressions", [](const Reader& requirement) {
            return LabelSelectorRequirement{.key = requirement.text("key"),
                                            .op = requirement.text("operator"),
                                            .values = requirement.strings("values")};
          })};
}

PodSpec read_pod_spec(const Reader& spec) {
  return {.init_containers = spec.list("initContainers", read_container),
          .containers = spec.list("containers", read_container),
          .pod_requests = read_pod_level(spec, "requests"),
          .pod_limits = read_pod_level(spec, "limits"),
          .overhead = spec.amounts("overhead"),
          .node_selector = spec.string_map("nodeSelector"),
          .node_affinity = read_node_affinity(spec.child("affinity").child("nodeAffinity")),
          .tolerations = read_tolerations(spec),
          .host_ports = read_host_ports(spec),
          .scheduler_name = spec.text("schedulerName"),
          .node_name = spec.text("nodeName"),
          .priority_class_name = spec.text("priorityClassName"),
          .priority = spec.maybe_int32("priority"),
          .runtime_class_name = spec.text("runtimeClassName"),
          .scheduling_gates = spec.list("schedulingGates", [](const Reader& gate) { return gate.text("name"); }),
          .unsupported_placement_fields = read_unsupported(spec),
          .containers_hash = hash_containers(spec.raw("containers")),
          .init_containers_hash = hash_containers(spec.raw("initContainers"))};
}

PodTemplate read_pod_template(const Reader& pod_template) {
  const Reader meta = pod_template.child("metadata");
  return {.labels = meta.string_map("labels"),
          .annotations = meta.string_map("annotations"),
          .spec = read_pod_spec(pod_template.child("spec"))};
}

template <>
Result<Pod> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader status = root.child("status");
  Pod pod{.meta = read_meta(root),
          .spec = read_pod_spec(root.child("spec")),
          .phase = status.text("phase"),
          .conditions = read_conditions(status),
          .nominated_node_name = status.text("nominatedNodeName"),
          .status_reason = status.text("reason")};
  return std::move(problems).finish(std::move(pod));
}

template <>
Result<PodSpec> decode(const Json& object) {
  Problems problems;
  PodSpec spec = read_pod_spec(Reader(object, problems));
  return std::move(problems).finish(std::move(spec));
}

template <>
Result<PodTemplate> decode(const Json& object) {
  Problems problems;
  PodTemplate pod_template = read_pod_template(Reader(object, problems));
  return std::move(problems).finish(std::move(pod_template));
}

}  // namespace muster::api
