#include "sim/job_rules.h"

#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

#include <string>

namespace muster::sim {
namespace {

using api::Json;
using controllers::bool_at;
using controllers::find_at;
using controllers::object_at;
using controllers::text_at;

void default_to(Json& object, const char* key, Json value) {
  if (find_at(object, {key}) == nullptr) {
    object[key] = std::move(value);
  }
}

void default_pod_spec(Json& spec) {
  default_to(spec, "schedulerName", "default-scheduler");
  default_to(spec, "restartPolicy", "Always");
}

void default_job(Json& job) {
  Json& spec = object_at(job, {"spec"});
  if (find_at(spec, {"completions"}) == nullptr && find_at(spec, {"parallelism"}) == nullptr) {
    spec["completions"] = 1;
  }
  default_to(spec, "parallelism", 1);
  default_to(spec, "suspend", false);
  default_to(spec, "completionMode", "NonIndexed");
  const std::string uid = text_at(job, {"metadata", "uid"});
  const std::string name = text_at(job, {"metadata", "name"});
  spec["selector"] = {{"matchLabels", {{"batch.kubernetes.io/controller-uid", uid}}}};
  Json& labels = object_at(spec, {"template", "metadata", "labels"});
  for (const char* key : {"controller-uid", "batch.kubernetes.io/controller-uid"}) {
    labels[key] = uid;
  }
  for (const char* key : {"job-name", "batch.kubernetes.io/job-name"}) {
    labels[key] = name;
  }
  default_pod_spec(object_at(spec, {"template", "spec"}));
}

// Kubernetes 1.36: the scheduling directives of a template may change while the Job is suspended and says so.
Status check_job(const Json& before, const Json& after) {
  const bool suspended = bool_at(before, {"spec", "suspend"}, false);
  const bool says_so = controllers::has_true_condition(before, "Suspended");
  const Json* old_template = find_at(before, {"spec", "template"});
  const Json* new_template = find_at(after, {"spec", "template"});
  const bool same = (old_template == nullptr) == (new_template == nullptr) &&
                    (old_template == nullptr || *old_template == *new_template);
  if (!same && !(suspended && says_so)) {
    return invalid("field is immutable", "spec.template");
  }
  const Json* old_start = find_at(before, {"status", "startTime"});
  const Json* new_start = find_at(after, {"status", "startTime"});
  if (old_start != nullptr && new_start == nullptr && !bool_at(after, {"spec", "suspend"}, false)) {
    return invalid("startTime cannot be removed for unsuspended job", "status.startTime");
  }
  return {};
}

}  // namespace

void set_defaults(const ResourceKind& kind, Json& object) {
  if (kind.name == "Job") {
    default_job(object);
  } else if (kind.name == "Pod") {
    default_pod_spec(object_at(object, {"spec"}));
    if (text_at(object, {"status", "phase"}).empty()) {
      object_at(object, {"status"})["phase"] = "Pending";
    }
  } else if (kind.name == "Namespace") {
    object_at(object, {"metadata", "labels"})["kubernetes.io/metadata.name"] = text_at(object, {"metadata", "name"});
  }
}

Status check_update(const ResourceKind& kind, const Json& before, const Json& after) {
  if (kind.name == "Job") {
    return check_job(before, after);
  }
  const std::string node = text_at(before, {"spec", "nodeName"});
  if (kind.name == "Pod" && !node.empty() && text_at(after, {"spec", "nodeName"}) != node) {
    return invalid("pod updates may not change the node", "spec.nodeName");
  }
  return {};
}

}  // namespace muster::sim
