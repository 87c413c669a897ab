#include "controllers/requests/job_json.h"

#include "api/codec/encode.h"
#include "api/constants.h"
#include "controllers/jobs/batch_job.h"
#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace muster::controllers {
namespace {

using api::Json;

// Labels that the API server puts on a Job's template and that no Workload carries.
constexpr std::array<std::string_view, 3> kServerLabels = {"controller-uid", "batch.kubernetes.io/controller-uid",
                                                           "job-name"};
constexpr std::array<std::string_view, 3> kRestoredFields = {"nodeSelector", "tolerations", "schedulingGates"};

Status merge_map(Path path, const api::StringMap& more, Json& object) {
  for (const auto& [key, value] : more) {
    Json& map = object_at(object, path);
    const std::string have = text_at(map, {key});
    if (map.contains(key) && have != value) {
      return invalid("conflict for key=" + key + ", value1=" + have + ", value2=" + value);
    }
    map[key] = value;
  }
  return {};
}

Json normal_form(Json toleration) {
  if (text_at(toleration, {"operator"}).empty()) {
    toleration["operator"] = "Equal";
  }
  return toleration;
}

void merge_tolerations(const std::vector<api::Toleration>& more, Json& pod_template) {
  if (more.empty()) {
    return;
  }
  Json& spec = object_at(pod_template, {"spec"});
  Json& list = spec["tolerations"];
  if (!list.is_array()) {
    list = Json::array();
  }
  for (const Json& toleration : api::encode(more)) {
    const bool known = std::any_of(list.begin(), list.end(), [&toleration](const Json& have) {
      return normal_form(have) == normal_form(toleration);
    });
    if (!known) {
      list.push_back(toleration);
    }
  }
}

bool is_partial(const Json& job) {
  return find_at(job, {"metadata", "annotations", kMinParallelismAnnotation}) != nullptr;
}

void set_parallelism(std::int64_t count, Json& job) {
  Json& spec = object_at(job, {"spec"});
  spec["parallelism"] = count;
  if (text_at(job, {"metadata", "annotations", kCompletionsFollowAnnotation}) == "true") {
    spec["completions"] = count;
  }
}

// labels and annotations of the Workload's template; the labels that the server added to the Job's stay.
void restore_metadata(const Json& from, Json& to) {
  Json labels = Json::object();
  if (const Json* wanted = find_at(from, {"metadata", "labels"})) {
    labels = *wanted;
  }
  for (const std::string_view key : kServerLabels) {
    if (const Json* kept = find_at(to, {"metadata", "labels", key})) {
      labels[std::string(key)] = *kept;
    }
  }
  const Json* annotations = find_at(from, {"metadata", "annotations"});
  Json& metadata = object_at(to, {"metadata"});
  metadata["labels"] = std::move(labels);
  metadata["annotations"] = annotations == nullptr ? Json::object() : *annotations;
}

void restore_template(const Json& pod_set, Json& job) {
  const Json* from = find_at(pod_set, {"template"});
  if (from == nullptr) {
    return;
  }
  Json& to = object_at(job, {"spec", "template"});
  restore_metadata(*from, to);
  for (const std::string_view field : kRestoredFields) {
    if (const Json* value = find_at(*from, {"spec", field})) {
      object_at(to, {"spec"})[std::string(field)] = *value;
    } else {
      erase_at(to, {"spec"}, field);
    }
  }
  if (is_partial(job)) {
    set_parallelism(integer_at(pod_set, {"count"}, integer_at(job, {"spec", "parallelism"}, 1)), job);
  }
}

// The Workload is gone: at least what certainly came from us goes too.
void drop_injected_keys(Json& job) {
  for (const char* key : {api::kPodSetLabel, api::kClusterQueueLabel, api::kLocalQueueLabel}) {
    erase_at(job, {"spec", "template", "metadata", "labels"}, key);
  }
  erase_at(job, {"spec", "template", "metadata", "annotations"}, api::kWorkloadAnnotation);
}

Edit suspend(Json job, Restore restore) {
  object_at(job, {"spec"})["suspend"] = true;
  if (restore == Restore::kYes) {
    object_at(job, {"metadata", "annotations"})[api::kStoppingAnnotation] = "true";
  }
  return {.object = std::move(job), .last = false};
}

}  // namespace

Status merge_info(const framework::PodSetInfo& info, Json& pod_template) {
  MUSTER_RETURN_IF_ERROR(merge_map({"metadata", "annotations"}, info.annotations, pod_template));
  MUSTER_RETURN_IF_ERROR(merge_map({"metadata", "labels"}, info.labels, pod_template));
  MUSTER_RETURN_IF_ERROR(merge_map({"spec", "nodeSelector"}, info.node_selector, pod_template));
  merge_tolerations(info.tolerations, pod_template);
  return {};
}

Result<std::optional<Edit>> next_start_edit(const Json& job, const std::vector<framework::PodSetInfo>& infos) {
  if (!bool_at(job, {"spec", "suspend"}, false)) {
    return std::optional<Edit>();
  }
  if (infos.size() != 1) {
    return invalid("invalid podset infos: expecting 1 podset, got " + std::to_string(infos.size()));
  }
  Json started = job;
  object_at(started, {"spec"})["suspend"] = false;
  MUSTER_RETURN_IF_ERROR(merge_info(infos.front(), object_at(started, {"spec", "template"})));
  if (is_partial(job)) {
    set_parallelism(infos.front().count, started);
  }
  return std::optional(Edit{.object = std::move(started)});
}

Result<std::optional<Edit>> next_stop_edit(const Json& job, Restore restore, const Json* workload) {
  const bool stopping = text_at(job, {"metadata", "annotations", api::kStoppingAnnotation}) == "true";
  const bool started = find_at(job, {"status", "startTime"}) != nullptr;
  const bool unmarked = restore == Restore::kYes && started && !stopping;
  if (!bool_at(job, {"spec", "suspend"}, false) || unmarked) {
    return std::optional(suspend(job, restore));
  }
  const bool stopped = has_true_condition(job, "Suspended") && integer_at(job, {"status", "active"}, 0) == 0;
  if (!stopping || !stopped) {
    return std::optional<Edit>();
  }
  Json next = job;
  if (started) {
    erase_at(next, {"status"}, "startTime");
    return std::optional(Edit{.object = std::move(next), .subresource = "status", .tells = false, .last = false});
  }
  const Json* pod_sets = workload == nullptr ? nullptr : find_at(*workload, {"spec", "podSets"});
  if (pod_sets != nullptr && pod_sets->is_array() && pod_sets->size() == 1) {
    restore_template(pod_sets->front(), next);
  } else {
    drop_injected_keys(next);
  }
  erase_at(next, {"metadata", "annotations"}, api::kStoppingAnnotation);
  return std::optional(Edit{.object = std::move(next), .tells = false});
}

}  // namespace muster::controllers
