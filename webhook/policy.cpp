#include "webhook/policy.h"

#include "api/constants.h"
#include "webhook/object.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::webhook {
namespace {

using api::Json;

constexpr char kNamespaceNameLabel[] = "kubernetes.io/metadata.name";

// The one label that the API server itself sets: such a selector needs no look at the namespace.
bool looks_at_name_only(const api::LabelSelector& selector) {
  const auto is_name = [](const auto& item) { return item == kNamespaceNameLabel; };
  return std::all_of(selector.match_labels.begin(), selector.match_labels.end(),
                     [&](const auto& entry) { return is_name(entry.first); }) &&
         std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&](const auto& requirement) { return is_name(requirement.key); });
}

bool has_queue_name(const Json& object) {
  const std::string* queue = label(object, api::kQueueNameLabel);
  return queue != nullptr && !queue->empty();
}

}  // namespace

Result<bool> namespace_is_managed(const std::string& ns, const View& view, const JobOptions& options) {
  if (!options.managed_namespaces) {
    return true;
  }
  const api::LabelSelector& selector = *options.managed_namespaces;
  if (const api::StringMap* labels = view.namespace_labels(ns)) {
    return api::matches(selector, *labels);
  }
  if (looks_at_name_only(selector)) {
    return api::matches(selector, {{kNamespaceNameLabel, ns}});
  }
  return Error{.code = ErrorCode::kUnavailable, .message = "namespace \"" + ns + "\" is not known yet"};
}

bool is_outside(const Json& object, const View& view, const JobOptions& options) {
  const Result<bool> selected = namespace_is_managed(namespace_of(object), view, options);
  return selected.ok() && !*selected;
}

bool is_managed(const Json& object, const JobOptions& options) {
  return has_queue_name(object) || options.manage_jobs_without_queue_name;
}

void apply_defaults(Json& object, const View& view, const JobOptions& options) {
  const bool owned = is_owned_by_job_kind(object);
  if (options.default_local_queue && !owned && label(object, api::kQueueNameLabel) == nullptr &&
      view.has_default_queue(namespace_of(object))) {
    set_label(object, api::kQueueNameLabel, api::kDefaultLocalQueue);
  }
  if (options.default_priority_class && !owned && is_managed(object, options) &&
      label(object, api::kPriorityClassLabel) == nullptr && view.has_default_priority_class()) {
    set_label(object, api::kPriorityClassLabel, "default");
  }
}

}  // namespace muster::webhook
