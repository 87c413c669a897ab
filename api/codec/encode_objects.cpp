// Whole objects of the core, batch and scheduling groups.
#include "api/codec/encode.h"
#include "api/codec/encode_parts.h"

namespace muster::api {

Json encode(const Job& job) {
  Json spec = {{"suspend", job.suspend}, {"parallelism", job.parallelism}, {"template", encode(job.pod_template)}};
  put(spec, "completions", job.completions);
  put(spec, "completionMode", job.completion_mode);
  put(spec, "managedBy", job.managed_by);

  Json status = Json::object();
  put(status, "conditions", encode(job.conditions));
  put_unless(status, "active", job.active, 0);
  put_unless(status, "ready", job.ready, 0);
  put_unless(status, "succeeded", job.succeeded, 0);
  put_unless(status, "failed", job.failed, 0);
  put_unless(status, "terminating", job.terminating, 0);
  put_time(status, "startTime", job.start_time);
  if (job.uncounted_succeeded > 0) {
    Json uids = Json::array();
    for (std::int32_t i = 0; i < job.uncounted_succeeded; ++i) {
      uids.push_back("uncounted-" + std::to_string(i));
    }
    status["uncountedTerminatedPods"] = {{"succeeded", std::move(uids)}};
  }

  Json json = an_object("batch/v1", "Job", encode(job.meta));
  json["spec"] = std::move(spec);
  put(json, "status", std::move(status));
  return json;
}

Json encode(const Pod& pod) {
  Json status = Json::object();
  put(status, "phase", pod.phase);
  put(status, "conditions", encode(pod.conditions));
  put(status, "nominatedNodeName", pod.nominated_node_name);
  put(status, "reason", pod.status_reason);
  Json json = an_object("v1", "Pod", encode(pod.meta));
  json["spec"] = encode(pod.spec);
  put(json, "status", std::move(status));
  return json;
}

Json encode(const Node& node) {
  Json spec = Json::object();
  put_unless(spec, "unschedulable", node.unschedulable, false);
  put(spec, "taints", encode(node.taints));
  const Json ready = {{"type", "Ready"}, {"status", node.ready ? "True" : "False"}};
  Json json = an_object("v1", "Node", encode(node.meta));
  put(json, "spec", std::move(spec));
  json["status"] = {{"allocatable", encode_amounts(node.allocatable)}, {"conditions", Json::array({ready})}};
  return json;
}

Json encode(const Namespace& ns) {
  return an_object("v1", "Namespace", encode(ns.meta));
}

Json encode(const PriorityClass& priority_class) {
  Json json = an_object("scheduling.k8s.io/v1", "PriorityClass", encode(priority_class.meta));
  json["value"] = priority_class.value;
  put_unless(json, "globalDefault", priority_class.global_default, false);
  return json;
}

Json encode(const RuntimeClass& runtime_class) {
  Json json = an_object("node.k8s.io/v1", "RuntimeClass", encode(runtime_class.meta));
  if (!runtime_class.overhead.empty()) {
    json["overhead"] = {{"podFixed", encode_amounts(runtime_class.overhead)}};
  }
  return json;
}

Json encode(const LimitRange& range) {
  Json json = an_object("v1", "LimitRange", encode(range.meta));
  json["spec"] = {{"limits", encode_list(range.limits, [](const LimitRangeItem& item) {
                     Json limit = {{"type", item.type}};
                     put(limit, "max", encode_amounts(item.max));
                     put(limit, "min", encode_amounts(item.min));
                     put(limit, "default", encode_amounts(item.defaults));
                     put(limit, "defaultRequest", encode_amounts(item.default_request));
                     return limit;
                   })}};
  return json;
}

Json encode(const WorkloadPriorityClass& priority_class) {
  Json json = an_object(kKueueVersion, "WorkloadPriorityClass", encode(priority_class.meta));
  json["value"] = priority_class.value;
  return json;
}

}  // namespace muster::api
