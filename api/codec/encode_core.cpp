#include "api/codec/encode.h"
#include "api/codec/encode_parts.h"
#include "base/quantity.h"

namespace muster::api {
namespace {

Json encode_owner(const OwnerReference& owner) {
  Json json = {{"apiVersion", owner.api_version}, {"kind", owner.kind}, {"name", owner.name}, {"uid", owner.uid.str()}};
  put_unless(json, "controller", owner.controller, false);
  return json;
}

// LabelSelectorRequirement and NodeSelectorRequirement look alike.
template <class Requirement>
Json encode_requirement(const Requirement& requirement) {
  Json json = {{"key", requirement.key}, {"operator", requirement.op}};
  put(json, "values", requirement.values);
  return json;
}

Json encode_term(const NodeSelectorTerm& term) {
  Json json = Json::object();
  put(json, "matchExpressions", encode_list(term.match_expressions, encode_requirement<NodeSelectorRequirement>));
  put(json, "matchFields", encode_list(term.match_fields, encode_requirement<NodeSelectorRequirement>));
  return json;
}

Json encode_affinity(const NodeAffinity& affinity) {
  Json json = Json::object();
  if (affinity.required) {
    json["requiredDuringSchedulingIgnoredDuringExecution"] = {
        {"nodeSelectorTerms", encode_list(*affinity.required, encode_term)}};
  }
  put(json, "preferredDuringSchedulingIgnoredDuringExecution",
      encode_list(affinity.preferred, [](const PreferredSchedulingTerm& term) {
        return Json{{"weight", term.weight}, {"preference", encode_term(term.preference)}};
      }));
  return json.empty() ? json : Json{{"nodeAffinity", std::move(json)}};
}

Json encode_container(const Container& container) {
  Json resources = Json::object();
  put(resources, "requests", encode_amounts(container.requests));
  put(resources, "limits", encode_amounts(container.limits));
  Json json = {{"name", container.name}};
  put(json, "resources", std::move(resources));
  if (container.restartable_init) {
    json["restartPolicy"] = "Always";
  }
  return json;
}

Json encode_ports(const std::vector<HostPort>& ports) {
  return encode_list(ports, [](const HostPort& port) {
    Json json = {{"containerPort", port.port}, {"hostPort", port.port}};
    put(json, "protocol", port.protocol);
    put(json, "hostIP", port.ip);
    return json;
  });
}

// Which container a port belongs to is not kept: they all go to the first.
Json encode_containers(const PodSpec& spec) {
  Json containers = encode_list(spec.containers, encode_container);
  if (!containers.empty()) {
    put(containers[0], "ports", encode_ports(spec.host_ports));
  }
  return containers;
}

Json encode_pod_level(const PodSpec& spec) {
  Json json = Json::object();
  if (spec.pod_requests) {
    json["requests"] = encode_amounts(*spec.pod_requests);
  }
  if (spec.pod_limits) {
    json["limits"] = encode_amounts(*spec.pod_limits);
  }
  return json;
}

}  // namespace

void put_time(Json& object, std::string_view key, const std::optional<TimePoint>& time) {
  if (time) {
    object[std::string(key)] = format_rfc3339(*time);
  }
}

std::string encode_amount(std::string_view resource, Amount amount) {
  if (amount == kUnlimited) {
    return std::to_string(amount) + (resource == "cpu" ? "m" : "");
  }
  return format_amount(resource, amount);
}

Json encode_amounts(const ResourceAmounts& amounts) {
  Json json = Json::object();
  for (const auto& [resource, amount] : amounts) {
    json[resource] = encode_amount(resource, amount);
  }
  return json;
}

Json encode(const ObjectMeta& meta) {
  Json json = Json::object();
  put(json, "namespace", meta.ns);
  put(json, "name", meta.name);
  put(json, "uid", meta.uid.str());
  put(json, "resourceVersion", meta.resource_version);
  put_unless(json, "generation", meta.generation, std::int64_t{0});
  if (meta.creation_timestamp != TimePoint{}) {
    put_time(json, "creationTimestamp", meta.creation_timestamp);
  }
  put_time(json, "deletionTimestamp", meta.deletion_timestamp);
  put(json, "labels", meta.labels);
  put(json, "annotations", meta.annotations);
  put(json, "ownerReferences", encode_list(meta.owner_references, encode_owner));
  put(json, "finalizers", meta.finalizers);
  return json;
}

Json encode(const Condition& condition) {
  Json json = {{"type", condition.type},
               {"status", std::string(name_of(kConditionStatusNames, condition.status))},
               {"reason", condition.reason},
               {"message", condition.message},
               {"lastTransitionTime", format_rfc3339(condition.last_transition_time)}};
  put_unless(json, "observedGeneration", condition.observed_generation, std::int64_t{0});
  return json;
}

Json encode(const Conditions& conditions) {
  return encode_list(conditions, [](const Condition& condition) { return encode(condition); });
}

Json encode(const std::vector<Toleration>& tolerations) {
  return encode_list(tolerations, [](const Toleration& toleration) {
    Json json = Json::object();
    put(json, "key", toleration.key);
    put(json, "operator", toleration.op);
    put(json, "value", toleration.value);
    put(json, "effect", toleration.effect);
    put(json, "tolerationSeconds", toleration.toleration_seconds);
    return json;
  });
}

Json encode(const std::vector<Taint>& taints) {
  return encode_list(taints, [](const Taint& taint) {
    Json json = {{"key", taint.key}, {"effect", taint.effect}};
    put(json, "value", taint.value);
    put_time(json, "timeAdded", taint.time_added);
    return json;
  });
}

Json encode(const LabelSelector& selector) {
  Json json = Json::object();
  put(json, "matchLabels", selector.match_labels);
  put(json, "matchExpressions", encode_list(selector.match_expressions, encode_requirement<LabelSelectorRequirement>));
  return json;
}

Json encode(const PodSpec& spec) {
  Json json = {{"containers", encode_containers(spec)}};
  put(json, "initContainers", encode_list(spec.init_containers, encode_container));
  put(json, "resources", encode_pod_level(spec));
  put(json, "overhead", encode_amounts(spec.overhead));
  put(json, "nodeSelector", spec.node_selector);
  put(json, "affinity", encode_affinity(spec.node_affinity));
  put(json, "tolerations", encode(spec.tolerations));
  put(json, "schedulerName", spec.scheduler_name);
  put(json, "nodeName", spec.node_name);
  put(json, "priorityClassName", spec.priority_class_name);
  put(json, "priority", spec.priority);
  put(json, "runtimeClassName", spec.runtime_class_name);
  put(json, "schedulingGates", encode_list(spec.scheduling_gates, [](const std::string& gate) {
        return Json{{"name", gate}};
      }));
  return json;
}

Json encode(const PodTemplate& pod_template) {
  Json meta = Json::object();
  put(meta, "labels", pod_template.labels);
  put(meta, "annotations", pod_template.annotations);
  Json json = {{"spec", encode(pod_template.spec)}};
  put(json, "metadata", std::move(meta));
  return json;
}

}  // namespace muster::api
