#include "webhook/pod_webhook.h"

#include "api/constants.h"
#include "webhook/go_numbers.h"
#include "webhook/label_rules.h"
#include "webhook/object.h"
#include "webhook/policy.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::webhook {
namespace {

using api::FieldErrors;
using api::Json;

constexpr char kSuspendingParent[] = "kueue.x-k8s.io/pod-suspending-parent";
constexpr char kRetriable[] = "kueue.x-k8s.io/retriable-in-group";

struct GroupName {
  std::string path{};
  std::string value{};  // empty: no pod of a group
};

// The annotation wins over the label.
GroupName group_of(const Json& pod) {
  const std::string* annotated = annotation(pod, api::kPodGroupNameKey);
  const std::string* labelled = label(pod, api::kPodGroupNameKey);
  if (annotated != nullptr) {
    return {.path = api::at_key("metadata.annotations", api::kPodGroupNameKey), .value = *annotated};
  }
  return {.path = api::at_key("metadata.labels", api::kPodGroupNameKey),
          .value = labelled == nullptr ? std::string{} : *labelled};
}

bool has_gate(const Json& pod) {
  const Json& gates = member(pod, "spec", "schedulingGates");
  return std::any_of(gates.begin(), gates.end(), [](const Json& gate) {
    return member(gate, "name") == std::string_view(api::kAdmissionSchedulingGate);
  });
}

bool is_suspended(const Json& pod) {
  const Json& phase = member(pod, "status", "phase");
  return has_gate(pod) || phase == "Succeeded" || phase == "Failed";
}

Status check_gates(const Json& pod) {
  const Json& gates = member(pod, "spec", "schedulingGates");
  return gates.is_null() || gates.is_array() ? Status{} : invalid("must be a list", "spec.schedulingGates");
}

// A pod that an object of another kind stands for.
bool belongs_to_another(const Json& pod) {
  return annotation(pod, kSuspendingParent) != nullptr || is_owned_by_job_kind(pod);
}

void add_gate(Json& pod) {
  Json& gates = pod["spec"]["schedulingGates"];
  if (gates.is_null()) {
    gates = Json::array();
  }
  if (!has_gate(pod)) {
    gates.push_back({{"name", api::kAdmissionSchedulingGate}});
  }
}

FieldErrors validate_total_count(const std::string& text, const std::string& path) {
  const Result<std::int64_t> count = parse_go_int(text);
  if (!count.ok()) {
    return {api::invalid_value(path, text, count.error().message)};
  }
  return *count >= 1 ? FieldErrors{} : FieldErrors{api::invalid_value(path, *count, "should be greater than 0")};
}

FieldErrors validate_group(const Json& pod) {
  const GroupName group = group_of(pod);
  const std::string* count = annotation(pod, api::kPodGroupTotalCountAnnotation);
  const std::string count_path = api::at_key("metadata.annotations", api::kPodGroupTotalCountAnnotation);
  const std::string both = "both the '" + std::string(api::kPodGroupTotalCountAnnotation) + "' annotation and the '" +
                           std::string(api::kPodGroupNameKey) + "' label should be set";
  if (group.value.empty()) {
    return count == nullptr ? FieldErrors{} : FieldErrors{api::required_value(group.path, both)};
  }
  FieldErrors errors;
  if (count == nullptr) {
    errors.push_back(api::required_value(count_path, both));
  } else {
    append(errors, validate_total_count(*count, count_path));
  }
  const std::string* prebuilt = annotation(pod, api::kPrebuiltWorkloadKey);
  if (prebuilt != nullptr && *prebuilt != group.value) {
    errors.push_back(api::invalid_value(api::at_key("metadata.annotations", api::kPrebuiltWorkloadKey), *prebuilt,
                                        "prebuilt workload and pod group should be equal"));
  }
  return errors;
}

FieldErrors validate_group_change(const Json& pod, const Json& old) {
  FieldErrors errors;
  const GroupName before = group_of(old);
  const GroupName now = group_of(pod);
  if (!before.value.empty() && now.value != before.value) {
    errors.push_back(api::invalid_value(now.path, now.value, api::kImmutable));
  }
  const std::string* was_retriable = annotation(old, kRetriable);
  const std::string* is_retriable = annotation(pod, kRetriable);
  if (was_retriable != nullptr && *was_retriable == "false" && (is_retriable == nullptr || *is_retriable != "false")) {
    errors.push_back(api::forbidden(api::at_key("metadata.annotations", kRetriable),
                                    "unretriable pod group can't be converted to retriable"));
  }
  return errors;
}

// Nothing would ever start such a pod.
FieldErrors refuse_group(const Json& pod, const JobOptions& options) {
  const GroupName group = group_of(pod);
  const bool refused = !options.pod_groups && !group.value.empty() && is_managed(pod, options);
  return refused ? FieldErrors{api::forbidden(group.path, "pod groups are not supported by this version of Muster")}
                 : FieldErrors{};
}

PodFindings validate_managed_label(const Json& pod) {
  const std::string* managed = label(pod, api::kManagedLabel);
  PodFindings findings;
  if (managed != nullptr && *managed != "true") {
    findings.errors.push_back(
        api::forbidden(api::at_key("metadata.labels", api::kManagedLabel), "managed label value can only be 'true'"));
  }
  if (managed != nullptr && is_owned_by_job_kind(pod)) {
    findings.warnings.push_back("the owner of this pod is admitted as a whole; the label " +
                                std::string(api::kManagedLabel) + "=" + *managed + " has no use on the pod");
  }
  return findings;
}

}  // namespace

Result<Json> mutate_pod(Json pod, const View& view, const JobOptions& options) {
  MUSTER_RETURN_IF_ERROR(check_shape(pod));
  MUSTER_RETURN_IF_ERROR(check_gates(pod));
  if (is_deleting(pod) || belongs_to_another(pod)) {
    return pod;
  }
  MUSTER_TRY(selected, namespace_is_managed(namespace_of(pod), view, options));
  if (!selected || (!options.pod_groups && !group_of(pod).value.empty())) {
    return pod;
  }
  apply_defaults(pod, view, options);
  if (is_managed(pod, options)) {
    set_label(pod, api::kManagedLabel, "true");
    add_finalizer(pod, api::kManagedFinalizer);
    add_gate(pod);
  }
  return pod;
}

Result<PodFindings> validate_pod(const Json& pod, const Json* old, const View& view, const JobOptions& options) {
  MUSTER_RETURN_IF_ERROR(check_shape(pod));
  MUSTER_RETURN_IF_ERROR(check_gates(pod));
  if (is_deleting(pod) || is_outside(pod, view, options)) {
    return PodFindings{};
  }
  PodFindings findings = validate_managed_label(pod);
  append(findings.errors, validate_group(pod));
  if (old == nullptr) {
    append(findings.errors, validate_labels_on_create(pod, options));
    append(findings.errors, belongs_to_another(pod) ? FieldErrors{} : refuse_group(pod, options));
    return findings;
  }
  MUSTER_RETURN_IF_ERROR(check_shape(*old));
  append(findings.errors, validate_labels_on_update({.object = pod, .suspended = is_suspended(pod)},
                                                    {.object = *old, .suspended = is_suspended(*old)}, view, options));
  append(findings.errors, validate_group_change(pod, *old));
  return findings;
}

}  // namespace muster::webhook
