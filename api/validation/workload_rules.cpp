#include "api/validation/workload_rules.h"

#include "api/codec/encode.h"
#include "api/validation/names.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::api {
namespace {

const Json::json_pointer kAdmissionPointer("/status/admission");

const PodSet* find_pod_set(const Workload& workload, const std::string& name) {
  const auto it = std::find_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                               [&name](const PodSet& pod_set) { return pod_set.name == name; });
  return it == workload.pod_sets.end() ? nullptr : &*it;
}

std::vector<std::string> pod_set_names(const Workload& workload) {
  std::vector<std::string> names;
  for (const PodSet& pod_set : workload.pod_sets) {
    names.push_back(pod_set.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Absent, null and empty are the same to Kubernetes' semantic equality.
bool is_blank(const Json& json) {
  return json.is_null() || ((json.is_array() || json.is_object()) && json.empty());
}

bool semantically_equal(const Json& a, const Json& b) {
  if (!a.is_object() || !b.is_object()) {
    return a == b || (is_blank(a) && is_blank(b));
  }
  const auto covered = [](const Json& left, const Json& right) {
    for (const auto& [key, value] : left.items()) {
      const auto other = right.find(key);
      if (other == right.end() ? !is_blank(value) : !semantically_equal(value, *other)) {
        return false;
      }
    }
    return true;
  };
  return covered(a, b) && covered(b, a);
}

FieldErrors validate_assignments(const Workload& workload) {
  FieldErrors errors;
  const std::vector<PodSetAssignment>& assignments = workload.status.admission->pod_set_assignments;
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const PodSetAssignment& assignment = assignments[i];
    const std::string path = at("status.admission.podSetAssignments", i);
    if (find_pod_set(workload, assignment.name) == nullptr) {
      errors.push_back(not_found(at(path, "name"), assignment.name));
    }
    for (const auto& [resource, usage] : assignment.resource_usage) {
      if (assignment.count > 0 && usage % assignment.count != 0) {
        errors.push_back(invalid_value(at_key(at(path, "resourceUsage"), resource), encode_amount(resource, usage),
                                       "is not a multiple of " + std::to_string(assignment.count)));
      }
    }
  }
  return errors;
}

FieldErrors validate_admission(const WorkloadChange& change) {
  if (!has_quota_reservation(change.now)) {
    return {};
  }
  if (change.now.status.admission) {
    return validate_assignments(change.now);
  }
  const bool was_so = change.old != nullptr && has_quota_reservation(*change.old) && !change.old->status.admission;
  return was_so
             ? FieldErrors{}
             : FieldErrors{required_value("status.admission", "must be set while the QuotaReserved condition is true")};
}

bool is_same_as_before(const WorkloadChange& change, const ReclaimablePod& pods) {
  if (change.old == nullptr) {
    return false;
  }
  const std::vector<ReclaimablePod>& before = change.old->status.reclaimable_pods;
  return std::find(before.begin(), before.end(), pods) != before.end();
}

FieldErrors validate_reclaimable(const WorkloadChange& change) {
  FieldErrors errors;
  for (const ReclaimablePod& pods : change.now.status.reclaimable_pods) {
    const std::string path = at_key("status.reclaimablePods", pods.name);
    const PodSet* pod_set = find_pod_set(change.now, pods.name);
    if (pod_set == nullptr) {
      errors.push_back(not_supported(at(path, "name"), pods.name, pod_set_names(change.now)));
    } else if (pods.count > pod_set->count && !(change.elastic && is_same_as_before(change, pods))) {
      errors.push_back(
          invalid_value(at(path, "count"), pods.count, "should be less or equal to " + std::to_string(pod_set->count)));
    }
  }
  return errors;
}

FieldErrors validate_update_content(const PodSetUpdate& update, const std::string& path) {
  FieldErrors errors;
  for (std::size_t i = 0; i < update.tolerations.size(); ++i) {
    if (!update.tolerations[i].key.empty()) {
      append(errors, validate_label_key(update.tolerations[i].key, at(at(at(path, "tolerations"), i), "key")));
    }
  }
  append(errors, validate_annotations(update.annotations, at(path, "annotations")));
  append(errors, validate_labels(update.node_selector, at(path, "nodeSelector")));
  append(errors, validate_labels(update.labels, at(path, "labels")));
  return errors;
}

FieldErrors validate_checks(const Workload& workload) {
  FieldErrors errors;
  for (std::size_t i = 0; i < workload.status.admission_checks.size(); ++i) {
    const std::vector<PodSetUpdate>& updates = workload.status.admission_checks[i].pod_set_updates;
    for (std::size_t j = 0; j < updates.size(); ++j) {
      const std::string path = at(at(at("status.admissionChecks", i), "podSetUpdates"), j);
      if (find_pod_set(workload, updates[j].name) == nullptr) {
        errors.push_back(not_supported(at(path, "name"), updates[j].name, pod_set_names(workload)));
      }
      append(errors, validate_update_content(updates[j], path));
    }
  }
  return errors;
}

// A podset may differ only by a lower count, and that only where elastic jobs are on.
bool is_allowed_change(const Json& now, const Json& old, const ValidationGates& gates) {
  if (!gates.elastic_jobs) {
    return semantically_equal(now, old);
  }
  const Json count = now.value("count", Json(1));
  const Json old_count = old.value("count", Json(1));
  if (!count.is_number_integer() || !old_count.is_number_integer() ||
      count.get<std::int64_t>() > old_count.get<std::int64_t>()) {
    return false;
  }
  Json same_count = now;
  same_count["count"] = old_count;
  Json old_with_count = old;
  old_with_count["count"] = old_count;
  return semantically_equal(same_count, old_with_count);
}

FieldErrors validate_pod_sets_kept(const WorkloadChange& change) {
  const Json now = pod_sets_of(change.json);
  const Json old = pod_sets_of(*change.old_json);
  if (now.size() != old.size()) {
    return {invalid_value("spec.podSets", now, kImmutable)};
  }
  FieldErrors errors;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (!is_allowed_change(now[i], old[i], change.gates)) {
      errors.push_back(invalid_value("spec.podSets." + std::to_string(i), now[i], kImmutable));
    }
  }
  return errors;
}

// Pods once given back stay given back, but for elastic podsets that shrank below what was admitted.
FieldErrors validate_reclaimable_kept(const WorkloadChange& change) {
  FieldErrors errors;
  for (const ReclaimablePod& before : change.old->status.reclaimable_pods) {
    const PodSet* pod_set = find_pod_set(change.now, before.name);
    const PodSet* old_pod_set = find_pod_set(*change.old, before.name);
    const bool shrank = change.elastic && pod_set != nullptr && old_pod_set != nullptr &&
                        (pod_set->count < old_pod_set->count || pod_set->count < before.count);
    if (shrank) {
      continue;
    }
    const std::vector<ReclaimablePod>& now = change.now.status.reclaimable_pods;
    const auto found = std::find_if(now.begin(), now.end(),
                                    [&before](const ReclaimablePod& pods) { return pods.name == before.name; });
    const std::string path = at_key("status.reclaimablePods", before.name);
    if (found == now.end()) {
      errors.push_back(required_value(path, "cannot be removed"));
    } else if (found->count < before.count) {
      errors.push_back(
          invalid_value(at(path, "count"), found->count, "cannot be less than " + std::to_string(before.count)));
    }
  }
  return errors;
}

// The admission without what topology-aware scheduling may still change.
Json comparable_admission(Json admission, bool without_topology) {
  const auto assignments = admission.find("podSetAssignments");
  if (without_topology && assignments != admission.end() && assignments->is_array()) {
    for (Json& assignment : *assignments) {
      if (assignment.is_object()) {
        assignment.erase("topologyAssignment");
        assignment.erase("delayedTopologyRequest");
      }
    }
  }
  return admission;
}

FieldErrors validate_admission_kept(const WorkloadChange& change) {
  if (!change.now.status.admission || !change.old->status.admission) {
    return {};
  }
  const Json& now = change.json.at(kAdmissionPointer);
  const Json& old = change.old_json->at(kAdmissionPointer);
  const bool topology = change.gates.topology_aware_scheduling;
  if (semantically_equal(comparable_admission(now, topology), comparable_admission(old, topology))) {
    return {};
  }
  return {invalid_value("status.admission", now, kImmutable)};
}

FieldErrors validate_check_updates_kept(const WorkloadChange& change) {
  FieldErrors errors;
  const std::vector<AdmissionCheckState>& now = change.now.status.admission_checks;
  const std::vector<AdmissionCheckState>& old = change.old->status.admission_checks;
  for (std::size_t i = 0; i < old.size(); ++i) {
    const auto found = std::find_if(now.begin(), now.end(),
                                    [&old, i](const AdmissionCheckState& check) { return check.name == old[i].name; });
    if (found != now.end() && found->state == CheckState::kReady && old[i].state == CheckState::kReady &&
        found->pod_set_updates != old[i].pod_set_updates) {
      errors.push_back(invalid_value(at(at("status.admissionChecks", i), "podSetUpdates"), found->name, kImmutable));
    }
  }
  return errors;
}

FieldErrors validate_cluster_name(const WorkloadChange& change) {
  const Json::json_pointer name("/status/clusterName");
  const Json::json_pointer nominated("/status/nominatedClusterNames");
  const Json now = change.json.value(name, Json());
  if (now.is_null() || !change.old_json->value(name, Json()).is_null() || change.elastic) {
    return {};
  }
  const Json names = change.old_json->value(nominated, Json::array());
  if (names.is_array() && std::find(names.begin(), names.end(), now) != names.end()) {
    return {};
  }
  return {
      invalid_value("status.clusterName", now, "when setting clusterName it must be one of the nominatedClusterNames")};
}

}  // namespace

FieldErrors validate_workload_status(const WorkloadChange& change) {
  FieldErrors errors = validate_admission(change);
  append(errors, validate_reclaimable(change));
  append(errors, validate_checks(change.now));
  return errors;
}

FieldErrors validate_workload_update(const WorkloadChange& change) {
  FieldErrors errors;
  if (has_quota_reservation(*change.old)) {
    append(errors, validate_pod_sets_kept(change));
    if (has_quota_reservation(change.now)) {
      append(errors, validate_reclaimable_kept(change));
    }
  }
  append(errors, validate_admission_kept(change));
  append(errors, validate_check_updates_kept(change));
  append(errors, validate_cluster_name(change));
  return errors;
}

Json pod_sets_of(const Json& workload) {
  const Json pod_sets = workload.value(Json::json_pointer("/spec/podSets"), Json::array());
  return pod_sets.is_array() ? pod_sets : Json::array();
}

}  // namespace muster::api
