#include "webhook/label_rules.h"

#include "api/constants.h"
#include "api/validation/names.h"
#include "webhook/go_numbers.h"
#include "webhook/object.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <utility>

namespace muster::webhook {
namespace {

using api::at_key;
using api::FieldErrors;
using api::Json;

constexpr char kElasticAnnotation[] = "kueue.x-k8s.io/elastic-job";

struct Text {
  std::string path{};
  std::string value{};  // empty: absent
};

Text text_at(std::string_view map, std::string_view key, const std::string* value) {
  return {.path = at_key(map, key), .value = value == nullptr ? std::string{} : *value};
}

Text label_text(const Json& object, std::string_view key) {
  return text_at("metadata.labels", key, label(object, key));
}

Text annotation_text(const Json& object, std::string_view key) {
  return text_at("metadata.annotations", key, annotation(object, key));
}

// The annotation wins over the label.
Text prebuilt_name(const Json& object) {
  const bool annotated = annotation(object, api::kPrebuiltWorkloadKey) != nullptr;
  return annotated ? annotation_text(object, api::kPrebuiltWorkloadKey) : label_text(object, api::kPrebuiltWorkloadKey);
}

FieldErrors validate_subdomain(const Text& text) {
  FieldErrors errors;
  for (const std::string& problem : api::dns_subdomain_problems(text.value)) {
    errors.push_back(api::invalid_value(text.path, text.value, problem));
  }
  return errors;
}

FieldErrors validate_max_exec_time(const Json& object) {
  const Text text = label_text(object, api::kMaxExecTimeLabel);
  if (label(object, api::kMaxExecTimeLabel) == nullptr) {
    return {};
  }
  const Result<std::int64_t> seconds = parse_go_int(text.value);
  if (!seconds.ok()) {
    return {api::invalid_value(text.path, text.value, seconds.error().message)};
  }
  return *seconds > 0 ? FieldErrors{}
                      : FieldErrors{api::invalid_value(text.path, *seconds, "should be greater than 0")};
}

FieldErrors immutable(const Text& now, const Text& old) {
  return now.value == old.value ? FieldErrors{} : FieldErrors{api::invalid_value(now.path, now.value, api::kImmutable)};
}

FieldErrors validate_queue_name_change(const JobState& now, const JobState& old, const View& view,
                                       const JobOptions& options) {
  const Text queue = label_text(now.object, api::kQueueNameLabel);
  const Text old_queue = label_text(old.object, api::kQueueNameLabel);
  FieldErrors errors;
  if (!now.suspended) {
    append(errors, immutable(queue, old_queue));
  }
  if (options.default_local_queue && queue.value.empty() && !old_queue.value.empty() &&
      view.has_default_queue(namespace_of(now.object))) {
    errors.push_back(
        api::invalid_value(queue.path, "", "queue-name must not be empty in namespace with default queue"));
  }
  return errors;
}

FieldErrors validate_priority_class_change(const JobState& now, const JobState& old) {
  const Text name = label_text(now.object, api::kPriorityClassLabel);
  const bool had_one = !label_text(old.object, api::kPriorityClassLabel).value.empty();
  if (!had_one && !name.value.empty() && !now.suspended) {
    return {
        api::invalid_value(name.path, name.value, "WorkloadPriorityClass cannot be added to a non-suspended workload")};
  }
  if (had_one && name.value.empty()) {
    return {api::invalid_value(name.path, "", "WorkloadPriorityClass cannot be removed from a workload")};
  }
  return {};
}

FieldErrors validate_prebuilt_change(const JobState& now, const JobState& old) {
  const bool elastic = annotation_text(now.object, kElasticAnnotation).value == "true";
  return now.suspended || elastic ? FieldErrors{} : immutable(prebuilt_name(now.object), prebuilt_name(old.object));
}

FieldErrors validate_gates(const Json& object, const Json* old) {
  const std::string gates = annotation_text(object, api::kAdmissionGatedByAnnotation).value;
  const std::string old_gates =
      old == nullptr ? std::string{} : annotation_text(*old, api::kAdmissionGatedByAnnotation).value;
  return api::validate_admission_gates(gates, old == nullptr ? nullptr : &old_gates);
}

FieldErrors validate_labels(const Json& object, const Json* old, const JobOptions& options) {
  FieldErrors errors;
  if (label(object, api::kQueueNameLabel) != nullptr) {
    append(errors, validate_subdomain(label_text(object, api::kQueueNameLabel)));
  }
  if (const Text prebuilt = prebuilt_name(object); !prebuilt.value.empty()) {
    append(errors, validate_subdomain(prebuilt));
  }
  append(errors, validate_max_exec_time(object));
  if (options.admission_gated_by) {
    append(errors, validate_gates(object, old));
  }
  return errors;
}

}  // namespace

FieldErrors validate_labels_on_create(const Json& object, const JobOptions& options) {
  return validate_labels(object, nullptr, options);
}

FieldErrors validate_labels_on_update(const JobState& now, const JobState& old, const View& view,
                                      const JobOptions& options) {
  FieldErrors errors = validate_labels(now.object, &old.object, options);
  append(errors, validate_queue_name_change(now, old, view, options));
  append(errors, validate_prebuilt_change(now, old));
  if (!now.suspended || !old.suspended) {
    append(errors,
           immutable(label_text(now.object, api::kMaxExecTimeLabel), label_text(old.object, api::kMaxExecTimeLabel)));
  }
  append(errors, validate_priority_class_change(now, old));
  append(errors,
         immutable(annotation_text(now.object, kElasticAnnotation), annotation_text(old.object, kElasticAnnotation)));
  return errors;
}

}  // namespace muster::webhook
