#include "controllers/requests/workload_json.h"

#include "api/constants.h"
#include "controllers/jobs/batch_job.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/paths.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

namespace muster::controllers {
namespace {

using api::Json;
using framework::Kind;

constexpr std::size_t kMaxLabelValue = 63;
constexpr std::string_view kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";
constexpr std::string_view kProvisioningPrefix = "provreq.kueue.x-k8s.io/";

// Pods may name a variable twice, Workloads may not: the last value counts, at the first place.
void collapse_env(Json& container) {
  const Json* env = find_at(container, {"env"});
  if (env == nullptr || !env->is_array()) {
    return;
  }
  Json unique = Json::array();
  for (const Json& variable : *env) {
    const std::string name = text_at(variable, {"name"});
    const auto known = std::find_if(unique.begin(), unique.end(),
                                    [&name](const Json& have) { return text_at(have, {"name"}) == name; });
    if (known == unique.end()) {
      unique.push_back(variable);
    } else {
      *known = variable;
    }
  }
  container["env"] = std::move(unique);
}

void collapse_envs(Json& pod_spec) {
  for (const char* list : {"containers", "initContainers"}) {
    if (find_at(pod_spec, {list}) == nullptr || !pod_spec[list].is_array()) {
      continue;
    }
    for (Json& container : pod_spec[list]) {
      collapse_env(container);
    }
  }
}

// A podset's template of a pod template or of a pod: labels, annotations, spec.
Json template_of(const Json& source) {
  Json result = Json::object();
  if (const Json* labels = find_at(source, {"metadata", "labels"})) {
    object_at(result, {"metadata"})["labels"] = *labels;
  }
  if (const Json* annotations = find_at(source, {"metadata", "annotations"})) {
    object_at(result, {"metadata"})["annotations"] = *annotations;
    erase_at(result, {"metadata", "annotations"}, kLastApplied);
  }
  if (const Json* spec = find_at(source, {"spec"})) {
    result["spec"] = *spec;
    collapse_envs(result["spec"]);
  }
  return result;
}

Json job_pod_set(const Json& job) {
  const Json* source = find_at(job, {"spec", "template"});
  Json pod_template = source == nullptr ? Json::object() : template_of(*source);
  for (const char* label : {"controller-uid", "batch.kubernetes.io/controller-uid", "job-name"}) {
    erase_at(pod_template, {"metadata", "labels"}, label);
  }
  const std::int64_t parallelism = integer_at(job, {"spec", "parallelism"}, 1);
  Json pod_set = {{"name", api::kDefaultPodSet},
                  {"count", std::min(parallelism, integer_at(job, {"spec", "completions"}, parallelism))},
                  {"template", std::move(pod_template)}};
  const std::string minimum = text_at(job, {"metadata", "annotations", kMinParallelismAnnotation});
  std::int32_t min_count = 0;
  const auto parsed = std::from_chars(minimum.data(), minimum.data() + minimum.size(), min_count);
  if (parsed.ec == std::errc{} && min_count >= 1) {
    pod_set["minCount"] = min_count;
  }
  return pod_set;
}

// Without what belongs to this one pod: the node, and the gate that waits for the Workload.
Json pod_pod_set(const Json& pod) {
  Json pod_template = template_of(pod);
  erase_at(pod_template, {"spec"}, "nodeName");
  if (find_at(pod_template, {"spec", "schedulingGates"}) != nullptr) {
    Json others = Json::array();
    for (const Json& gate : pod_template["spec"]["schedulingGates"]) {
      if (text_at(gate, {"name"}) != api::kAdmissionSchedulingGate) {
        others.push_back(gate);
      }
    }
    erase_at(pod_template, {"spec"}, "schedulingGates");
    if (!others.empty()) {
      pod_template["spec"]["schedulingGates"] = std::move(others);
    }
  }
  return {{"name", api::kDefaultPodSet}, {"count", 1}, {"template", std::move(pod_template)}};
}

void set_or_erase(Json& object, std::string_view key, std::optional<Json> value) {
  if (value) {
    object[std::string(key)] = *std::move(value);
  } else {
    object.erase(std::string(key));
  }
}

std::optional<Json> label_text(const Json& job, std::string_view key) {
  std::string value = text_at(job, {"metadata", "labels", key});
  return value.empty() ? std::nullopt : std::optional<Json>(std::move(value));
}

std::optional<Json> max_execution(const Json& job) {
  const std::string text = text_at(job, {"metadata", "labels", api::kMaxExecTimeLabel});
  std::int32_t seconds = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), seconds);
  const bool valid = parsed.ec == std::errc{} && parsed.ptr == text.data() + text.size() && seconds > 0;
  return valid ? std::optional<Json>(seconds) : std::nullopt;
}

std::optional<Json> priority_ref(const std::optional<api::PriorityClassRef>& ref) {
  if (!ref) {
    return std::nullopt;
  }
  return Json{{"group", ref->group}, {"kind", ref->kind}, {"name", ref->name}};
}

void describe_job(Kind kind, const Json& job, Json& spec) {
  spec["podSets"] = Json::array({kind == Kind::kPod ? pod_pod_set(job) : job_pod_set(job)});
  set_or_erase(spec, "queueName", label_text(job, api::kQueueNameLabel));
  set_or_erase(spec, "maximumExecutionTimeSeconds", max_execution(job));
}

Json owner_of(Kind kind, const Json& job) {
  return {{"apiVersion", std::string(api_version_of(kind))},
          {"kind", std::string(framework::to_string(kind))},
          {"name", text_at(job, {"metadata", "name"})},
          {"uid", text_at(job, {"metadata", "uid"})},
          {"controller", true},
          {"blockOwnerDeletion", true}};
}

Json annotations_of(const Json& job) {
  Json copied = Json::object();
  const Json* annotations = find_at(job, {"metadata", "annotations"});
  if (annotations == nullptr || !annotations->is_object()) {
    return copied;
  }
  for (const auto& [key, value] : annotations->items()) {
    if (key.rfind(kProvisioningPrefix, 0) == 0 || key == api::kAdmissionGatedByAnnotation) {
      copied[key] = value;
    }
  }
  return copied;
}

Json labels_of(const Json& job, const std::vector<std::string>& keys) {
  Json copied = Json::object();
  for (const std::string& key : keys) {
    if (const Json* value = find_at(job, {"metadata", "labels", key})) {
      copied[key] = *value;
    }
  }
  const std::string uid = text_at(job, {"metadata", "uid"});
  if (uid.size() <= kMaxLabelValue) {
    copied[api::kJobUidLabel] = uid;
  }
  return copied;
}

}  // namespace

Json new_workload(const framework::CreateWorkload& effect, const Json& job,
                  const std::vector<std::string>& label_keys_to_copy) {
  const Kind kind = effect.job.kind;
  Json metadata = {{"name", effect.name},
                   {"namespace", effect.job.key.ns},
                   {"finalizers", Json::array({api::kResourceInUseFinalizer})},
                   {"ownerReferences", Json::array({owner_of(kind, job)})},
                   {"labels", labels_of(job, label_keys_to_copy)}};
  if (Json annotations = annotations_of(job); !annotations.empty()) {
    metadata["annotations"] = std::move(annotations);
  }
  Json spec = {{"active", true}, {"priority", effect.priority}};
  describe_job(kind, job, spec);
  set_or_erase(spec, "priorityClassRef", priority_ref(effect.priority_class));
  return {{"apiVersion", std::string(api_version_of(Kind::kWorkload))},
          {"kind", "Workload"},
          {"metadata", std::move(metadata)},
          {"spec", std::move(spec)}};
}

std::optional<Json> adopted_workload(const framework::AdoptWorkload& effect, const Json& job, Json workload) {
  Json& owners = object_at(workload, {"metadata"})["ownerReferences"];
  if (!owners.is_array()) {
    owners = Json::array();
  }
  const Json mine = owner_of(effect.job.kind, job);
  for (const Json& owner : owners) {
    if (owner.value("controller", false)) {
      return text_at(owner, {"uid"}) == text_at(mine, {"uid"}) ? std::optional(std::move(workload)) : std::nullopt;
    }
  }
  owners.push_back(mine);
  const std::string uid = text_at(job, {"metadata", "uid"});
  if (uid.size() <= kMaxLabelValue) {
    object_at(workload, {"metadata", "labels"})[api::kJobUidLabel] = uid;
  }
  return workload;
}

Json rewritten_workload(const framework::RewriteWorkload& effect, const Json& job, Json workload) {
  Json& spec = object_at(workload, {"spec"});
  describe_job(effect.job.kind, job, spec);
  spec["priority"] = effect.priority;
  set_or_erase(spec, "priorityClassRef", priority_ref(effect.priority_class));
  return workload;
}

}  // namespace muster::controllers
