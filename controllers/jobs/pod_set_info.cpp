#include "controllers/jobs/pod_set_info.h"

#include "api/constants.h"
#include "base/check.h"

#include <algorithm>
#include <set>
#include <string_view>

namespace muster::controllers {
namespace {

using framework::PodSetInfo;

constexpr std::size_t kMaxLabelValue = 63;

bool is_label_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_dns1123_label(std::string_view name) {
  return !name.empty() && name.size() <= kMaxLabelValue && is_label_char(name.front()) && is_label_char(name.back()) &&
         std::all_of(name.begin(), name.end(), [](char c) { return is_label_char(c) || c == '-'; });
}

api::Toleration normal_form(api::Toleration toleration) {
  if (toleration.op.empty()) {
    toleration.op = "Equal";
  }
  return toleration;
}

Status add_flavors(const api::PodSetAssignment& assignment, const framework::Objects& objects, PodSetInfo& info) {
  std::set<FlavorName> names;
  for (const auto& [resource, flavor] : assignment.flavors) {
    names.insert(flavor);
  }
  for (const FlavorName& name : names) {
    const api::ResourceFlavor* flavor = objects.all<api::ResourceFlavor>().find(name.str());
    if (flavor == nullptr) {
      return Error{.code = ErrorCode::kNotFound, .message = "ResourceFlavor " + name.str() + " not found"};
    }
    for (const auto& [key, value] : flavor->node_labels) {
      info.node_selector[key] = value;
    }
    merge_tolerations(info.tolerations, flavor->tolerations);
  }
  return {};
}

PodSetInfo identity_of(const api::Workload& workload, const api::Admission& admission,
                       const api::PodSetAssignment& assignment) {
  PodSetInfo info{.name = assignment.name, .count = assignment.count};
  info.labels[api::kPodSetLabel] = assignment.name;
  if (is_dns1123_label(admission.cluster_queue.str())) {
    info.labels[api::kClusterQueueLabel] = admission.cluster_queue.str();
  }
  if (!workload.queue_name.empty() && workload.queue_name.str().size() <= kMaxLabelValue) {
    info.labels[api::kLocalQueueLabel] = workload.queue_name.str();
  }
  info.annotations[api::kWorkloadAnnotation] = workload.meta.name;
  return info;
}

std::optional<std::string> map_conflict(std::string_view what, const api::StringMap& have, const api::StringMap& more) {
  for (const auto& [key, value] : more) {
    const std::string* other = api::find(have, key);
    if (other != nullptr && *other != value) {
      return "invalid admission check PodSetUpdate: conflict for " + std::string(what) + ": conflict for key=" + key +
             ", value1=" + *other + ", value2=" + value;
    }
  }
  return std::nullopt;
}

std::optional<std::string> conflict(const PodSetInfo& info, const api::PodSetUpdate& update) {
  if (auto text = map_conflict("annotations", info.annotations, update.annotations)) {
    return text;
  }
  if (auto text = map_conflict("labels", info.labels, update.labels)) {
    return text;
  }
  return map_conflict("nodeSelector", info.node_selector, update.node_selector);
}

// Of one check the first update of a podset counts.
Status add_check(const api::AdmissionCheckState& check, PodSetInfo& info) {
  const auto update = std::find_if(check.pod_set_updates.begin(), check.pod_set_updates.end(),
                                   [&info](const api::PodSetUpdate& each) { return each.name == info.name; });
  if (update == check.pod_set_updates.end()) {
    return {};
  }
  if (auto text = conflict(info, *update)) {
    return invalid("in admission check \"" + check.name + "\": " + *text);
  }
  info.labels.insert(update->labels.begin(), update->labels.end());
  info.annotations.insert(update->annotations.begin(), update->annotations.end());
  info.node_selector.insert(update->node_selector.begin(), update->node_selector.end());
  merge_tolerations(info.tolerations, update->tolerations);
  return {};
}

}  // namespace

void merge_tolerations(std::vector<api::Toleration>& into, const std::vector<api::Toleration>& more) {
  for (const api::Toleration& toleration : more) {
    const api::Toleration wanted = normal_form(toleration);
    const bool known =
        std::any_of(into.begin(), into.end(), [&](const api::Toleration& have) { return normal_form(have) == wanted; });
    if (!known) {
      into.push_back(toleration);
    }
  }
}

Result<std::vector<PodSetInfo>> pod_set_infos(const api::Workload& workload, const api::WorkloadStatus& status,
                                              const framework::Objects& objects) {
  MUSTER_CHECK(status.admission.has_value()) << to_string(workload.meta.key());
  const api::Admission& admission = *status.admission;
  const std::size_t wanted = workload.pod_sets.size();
  if (admission.pod_set_assignments.size() != wanted) {
    return invalid("invalid podset infos: expecting " + std::to_string(wanted) + " podset, got " +
                   std::to_string(admission.pod_set_assignments.size()));
  }
  std::vector<PodSetInfo> infos;
  for (const api::PodSetAssignment& assignment : admission.pod_set_assignments) {
    PodSetInfo info = identity_of(workload, admission, assignment);
    MUSTER_RETURN_IF_ERROR(add_flavors(assignment, objects, info));
    for (const api::AdmissionCheckState& check : status.admission_checks) {
      MUSTER_RETURN_IF_ERROR(add_check(check, info));
    }
    infos.push_back(std::move(info));
  }
  return infos;
}

std::optional<std::string> merge_conflict(const PodSetInfo& info, const api::PodTemplate& pod_template) {
  if (auto text = map_conflict("annotations", pod_template.annotations, info.annotations)) {
    return text;
  }
  if (auto text = map_conflict("labels", pod_template.labels, info.labels)) {
    return text;
  }
  return map_conflict("nodeSelector", pod_template.spec.node_selector, info.node_selector);
}

}  // namespace muster::controllers
