#include "api/codec/decode.h"
#include "api/constants.h"
#include "api/kueue/workload.h"
#include "api/validation/names.h"
#include "api/validation/validate.h"
#include "api/validation/workload_rules.h"
#include "base/quantity.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::api {
namespace {

constexpr char kPriorityBoostAnnotation[] = "kueue.x-k8s.io/priority-boost";
constexpr char kElasticJobAnnotation[] = "kueue.x-k8s.io/elastic-job";

bool is_elastic(const Workload& workload, const ValidationGates& gates) {
  const std::string* value = find(workload.meta.annotations, kElasticJobAnnotation);
  return gates.elastic_jobs && value != nullptr && *value == "true";
}

FieldErrors validate_resources(const Json& owner, const std::string& path, const ValidationGates& gates) {
  FieldErrors errors;
  const auto resources = owner.find("resources");
  if (resources == owner.end() || !resources->is_object()) {
    return errors;
  }
  for (const std::string kind : {"requests", "limits"}) {
    const auto list = resources->find(kind);
    if (list == resources->end() || !list->is_object()) {
      continue;
    }
    for (const auto& [name, quantity] : list->items()) {
      const std::string entry = at_key(at(path, "resources." + kind), name);
      if (name == "pods") {
        errors.push_back(invalid_value(entry, "pods", "the key is reserved for internal kueue use"));
      }
      const std::string text = quantity.is_string() ? quantity.template get<std::string>() : dump_json(quantity);
      const Result<Amount> amount = parse_nano(text);
      if (gates.resources_not_negative && amount.ok() && *amount < 0) {
        errors.push_back(invalid_value(entry, text, kNotNegative));
      }
    }
  }
  return errors;
}

FieldErrors validate_template(const Json& pod_template, const std::string& path, const ValidationGates& gates) {
  FieldErrors errors;
  if (!pod_template.is_object()) {
    return errors;
  }
  const Result<PodTemplate> decoded = decode<PodTemplate>(pod_template);
  if (decoded.ok() && gates.pod_set_metadata) {
    append(errors, validate_labels(decoded->labels, path + ".metadata.labels"));
    append(errors, validate_annotations(decoded->annotations, path + ".metadata.annotations"));
  }
  const Json spec = pod_template.value("spec", Json::object());
  if (!spec.is_object()) {
    return errors;
  }
  for (const std::string list : {"initContainers", "containers"}) {
    const Json containers = spec.value(list, Json::array());
    for (std::size_t i = 0; containers.is_array() && i < containers.size(); ++i) {
      append(errors, validate_resources(containers[i], at(path + ".spec." + list, i), gates));
    }
  }
  append(errors, validate_resources(spec, path + ".spec", gates));
  return errors;
}

FieldErrors validate_topology(const Json& request, const std::string& path) {
  FieldErrors errors;
  const std::string size_path = at(path, "podSetSliceSize");
  const bool sliced = request.contains("podSetSliceRequiredTopology");
  const auto size = request.find("podSetSliceSize");
  if (size == request.end()) {
    if (sliced) {
      errors.push_back(required_value(size_path, "must be set when podSetSliceRequiredTopology is specified"));
    }
  } else if (!sliced) {
    errors.push_back(forbidden(size_path, "may not be set when podSetSliceRequiredTopology is not specified"));
  } else if (size->is_number_integer() && size->get<std::int64_t>() <= 0) {
    errors.push_back(invalid_value(size_path, *size, "must be greater than 0"));
  }
  const Json constraints = request.value("podsetSliceRequiredTopologyConstraints", Json::array());
  for (std::size_t i = 0; constraints.is_array() && i < constraints.size(); ++i) {
    const Json item = constraints[i].is_object() ? constraints[i].value("size", Json(1)) : Json(1);
    if (item.is_number_integer() && item.get<std::int64_t>() <= 0) {
      errors.push_back(invalid_value(at(at(at(path, "podsetSliceRequiredTopologyConstraints"), i), "size"), item,
                                     "must be greater than 0"));
    }
  }
  return errors;
}

FieldErrors validate_pod_sets(const Json& pod_sets, const Workload& workload, const ValidationGates& gates) {
  FieldErrors errors;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    const std::string path = at("spec.podSets", i);
    append(errors, validate_template(pod_sets[i].value("template", Json::object()), path + ".template", gates));
    const auto topology = pod_sets[i].find("topologyRequest");
    if (gates.slice_size && topology != pod_sets[i].end() && topology->is_object()) {
      append(errors, validate_topology(*topology, path + ".topologyRequest"));
    }
  }
  const auto partial = std::count_if(workload.pod_sets.begin(), workload.pod_sets.end(),
                                     [](const PodSet& pod_set) { return pod_set.min_count.has_value(); });
  if (partial > 1) {
    errors.push_back(invalid_value("spec.podSets", partial, "at most one podSet can use minCount"));
  }
  if (partial > 0 && is_elastic(workload, gates)) {
    errors.push_back(
        invalid_value("spec.podSets", partial, "partial admission and elastic job cannot be used together"));
  }
  return errors;
}

FieldErrors validate_boost(const Workload& workload) {
  const std::string* boost = find(workload.meta.annotations, kPriorityBoostAnnotation);
  if (boost == nullptr) {
    return {};
  }
  const std::string path = at_key("metadata.annotations", kPriorityBoostAnnotation);
  if (boost->empty()) {
    return {invalid_value(path, *boost,
                          "must be a valid signed integer; use \"0\" explicitly, empty string is not allowed")};
  }
  const std::size_t sign = (*boost)[0] == '-' || (*boost)[0] == '+' ? 1 : 0;
  const std::string digits = boost->substr(sign);
  const bool plausible = !digits.empty() && digits.size() < 40 &&
                         std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  const Result<Amount> value = plausible ? parse_amount("pods", *boost) : Result<Amount>(kUnlimited);
  constexpr Amount kInt32Max = 2147483647;
  return *value >= -kInt32Max - 1 && *value <= kInt32Max
             ? FieldErrors{}
             : FieldErrors{invalid_value(path, *boost, "must be a valid signed integer")};
}

FieldErrors validate_annotations_of(const Workload& workload, const Workload* old, const ValidationGates& gates) {
  static const std::string kNone;
  FieldErrors errors;
  if (gates.admission_gated_by) {
    const auto gate_of = [](const Workload& object) -> const std::string& {
      const std::string* value = find(object.meta.annotations, kAdmissionGatedByAnnotation);
      return value == nullptr ? kNone : *value;
    };
    append(errors, validate_admission_gates(gate_of(workload), old == nullptr ? nullptr : &gate_of(*old)));
  }
  if (gates.priority_boost) {
    append(errors, validate_boost(workload));
  }
  return errors;
}

}  // namespace

FieldErrors validate_workload(const Json& workload, const Json* old, const ValidationGates& gates) {
  const Result<Workload> decoded = decode<Workload>(workload);
  if (!decoded.ok()) {
    return {{.path = decoded.error().path, .text = decoded.error().message}};
  }
  const Result<Workload> decoded_old = old == nullptr ? Result<Workload>(Workload{}) : decode<Workload>(*old);
  const Workload* before = old != nullptr && decoded_old.ok() ? &*decoded_old : nullptr;

  const WorkloadChange change{.json = workload,
                              .old_json = old,
                              .now = *decoded,
                              .old = before,
                              .elastic = is_elastic(*decoded, gates),
                              .gates = gates};
  FieldErrors errors = validate_pod_sets(pod_sets_of(workload), *decoded, gates);
  append(errors, validate_workload_status(change));
  append(errors, validate_annotations_of(*decoded, before, gates));
  if (before != nullptr) {
    append(errors, validate_workload_update(change));
  }
  return errors;
}

}  // namespace muster::api
