#include "webhook/job_webhook.h"

#include "api/constants.h"
#include "webhook/go_numbers.h"
#include "webhook/label_rules.h"
#include "webhook/object.h"
#include "webhook/policy.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <utility>

namespace muster::webhook {
namespace {

using api::FieldErrors;
using api::Json;

constexpr char kMinParallelism[] = "kueue.x-k8s.io/job-min-parallelism";
constexpr char kCompletionsFollow[] = "kueue.x-k8s.io/job-completions-equal-parallelism";

bool is_suspended(const Json& job) {
  const Json& suspend = member(job, "spec", "suspend");
  return suspend.is_boolean() && suspend.get<bool>();
}

std::optional<std::int64_t> integer(const Json& job, std::string_view field) {
  const Json& value = member(job, "spec", field);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

std::int64_t parallelism_of(const Json& job) {
  return integer(job, "parallelism").value_or(1);
}

// Whether the annotation asks for completions that follow the parallelism; an unreadable one does not.
bool completions_follow(const Json& job) {
  const std::string* text = annotation(job, kCompletionsFollow);
  return text != nullptr && parse_go_bool(*text).value_or(false);
}

FieldErrors validate_min_parallelism(const Json& job) {
  const std::string* text = annotation(job, kMinParallelism);
  if (text == nullptr) {
    return {};
  }
  const std::string path = api::at_key("metadata.annotations", kMinParallelism);
  const Result<std::int64_t> minimum = parse_go_int(*text);
  if (!minimum.ok()) {
    return {api::invalid_value(path, *text, minimum.error().message)};
  }
  const std::int64_t most = parallelism_of(job) - 1;
  if (*minimum < 1 || *minimum > most) {
    return {api::invalid_value(path, *minimum, "should be between 0 and " + std::to_string(most))};
  }
  return {};
}

FieldErrors validate_completions_follow(const Json& job) {
  const std::string* text = annotation(job, kCompletionsFollow);
  if (text == nullptr) {
    return {};
  }
  const Result<bool> follow = parse_go_bool(*text);
  if (!follow.ok()) {
    return {api::invalid_value(api::at_key("metadata.annotations", kCompletionsFollow), *text, follow.error().message)};
  }
  FieldErrors errors;
  const Json& mode = member(job, "spec", "completionMode");
  if (*follow && (mode.is_null() || mode == "NonIndexed")) {
    errors.push_back(
        api::invalid_value("spec.completionMode", "NonIndexed", "should not be enabled for NonIndexed jobs"));
  }
  const std::int64_t completions = integer(job, "completions").value_or(1);
  if (*follow && completions != parallelism_of(job)) {
    errors.push_back(api::invalid_value(
        "spec.completions", completions,
        "should be equal to parallelism when " + std::string(kCompletionsFollow) + " annotation is true"));
  }
  return errors;
}

FieldErrors validate_partial_admission_change(const Json& job, const Json& old) {
  FieldErrors errors;
  if (annotation(old, kMinParallelism) != nullptr && !is_suspended(old) && parallelism_of(job) != parallelism_of(old)) {
    errors.push_back(api::forbidden("spec.parallelism",
                                    "cannot change when partial admission is enabled and the job is not suspended"));
  }
  if (!is_suspended(job) && !is_suspended(old) && completions_follow(job) != completions_follow(old)) {
    errors.push_back(api::forbidden(api::at_key("metadata.annotations", kCompletionsFollow),
                                    "cannot change while the job is not suspended"));
  }
  return errors;
}

}  // namespace

Result<Json> mutate_job(Json job, const View& view, const JobOptions& options) {
  MUSTER_RETURN_IF_ERROR(check_shape(job));
  if (is_deleting(job) || is_owned_by_job(job)) {
    return job;
  }
  MUSTER_TRY(selected, namespace_is_managed(namespace_of(job), view, options));
  if (!selected) {
    return job;
  }
  apply_defaults(job, view, options);
  if (is_managed(job, options)) {
    job["spec"]["suspend"] = true;
  }
  return job;
}

Result<FieldErrors> validate_job(const Json& job, const Json* old, const View& view, const JobOptions& options) {
  MUSTER_RETURN_IF_ERROR(check_shape(job));
  if (is_deleting(job) || is_outside(job, view, options)) {
    return FieldErrors{};
  }
  FieldErrors errors;
  if (old == nullptr) {
    errors = validate_labels_on_create(job, options);
  } else {
    MUSTER_RETURN_IF_ERROR(check_shape(*old));
    errors = validate_labels_on_update({.object = job, .suspended = is_suspended(job)},
                                       {.object = *old, .suspended = is_suspended(*old)}, view, options);
  }
  append(errors, validate_min_parallelism(job));
  append(errors, validate_completions_follow(job));
  if (old != nullptr) {
    append(errors, validate_partial_admission_change(job, *old));
  }
  return errors;
}

}  // namespace muster::webhook
