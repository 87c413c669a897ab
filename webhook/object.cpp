#include "webhook/object.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::webhook {
namespace {

using api::Json;

struct JobKindName {
  std::string_view group{};
  std::string_view kind{};
};

// Kinds with an integration in Kueue: their pods (or child jobs) are not jobs of their own.
constexpr std::array<JobKindName, 18> kJobKinds = {{{"batch", "Job"},
                                                    {"jobset.x-k8s.io", "JobSet"},
                                                    {"kubeflow.org", "MPIJob"},
                                                    {"kubeflow.org", "TFJob"},
                                                    {"kubeflow.org", "PyTorchJob"},
                                                    {"kubeflow.org", "XGBoostJob"},
                                                    {"kubeflow.org", "PaddleJob"},
                                                    {"kubeflow.org", "JAXJob"},
                                                    {"trainer.kubeflow.org", "TrainJob"},
                                                    {"ray.io", "RayJob"},
                                                    {"ray.io", "RayCluster"},
                                                    {"ray.io", "RayService"},
                                                    {"workload.codeflare.dev", "AppWrapper"},
                                                    {"sparkoperator.k8s.io", "SparkApplication"},
                                                    {"", "Pod"},
                                                    {"apps", "Deployment"},
                                                    {"apps", "StatefulSet"},
                                                    {"leaderworkerset.x-k8s.io", "LeaderWorkerSet"}}};

std::string_view group_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view{} : api_version.substr(0, slash);
}

std::string_view text_of(const Json& object, std::string_view key) {
  const Json& value = member(object, key);
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view{};
}

const Json* controller(const Json& object) {
  const Json& owners = member(object, "metadata", "ownerReferences");
  for (const Json& owner : owners) {
    const Json& flag = member(owner, "controller");
    if (flag.is_boolean() && flag.get<bool>()) {
      return &owner;
    }
  }
  return nullptr;
}

const std::string* text_in_map(const Json& object, std::string_view map, std::string_view key) {
  const Json& value = member(member(object, "metadata", map), key);
  return value.is_string() ? &value.get_ref<const std::string&>() : nullptr;
}

// `parent[key]` as an object, made where absent or null.
Json& object_under(Json& parent, std::string_view key) {
  Json& child = parent[std::string(key)];
  if (child.is_null()) {
    child = Json::object();
  }
  return child;
}

Status check_string_map(const Json& object, std::string_view key) {
  const Json& map = member(object, "metadata", key);
  const std::string path = "metadata." + std::string(key);
  if (map.is_null()) {
    return {};
  }
  if (!map.is_object()) {
    return invalid("must be an object", path);
  }
  for (const auto& [name, value] : map.items()) {
    if (!value.is_string()) {
      return invalid("must be a string", path + "[" + name + "]");
    }
  }
  return {};
}

Status check_list(const Json& object, std::string_view key, Json::value_t item_type) {
  const Json& list = member(object, "metadata", key);
  const std::string path = "metadata." + std::string(key);
  if (list.is_null()) {
    return {};
  }
  if (!list.is_array()) {
    return invalid("must be a list", path);
  }
  const bool uniform =
      std::all_of(list.begin(), list.end(), [&](const Json& item) { return item.type() == item_type; });
  return uniform ? Status{} : invalid("has an element of the wrong type", path);
}

}  // namespace

Status check_shape(const Json& object) {
  if (!object.is_object()) {
    return invalid("must be an object");
  }
  for (const std::string_view key : {"metadata", "spec", "status"}) {
    const Json& value = member(object, key);
    if (!value.is_null() && !value.is_object()) {
      return invalid("must be an object", std::string(key));
    }
  }
  if (!member(object, "metadata").is_object()) {
    return invalid("must be set", "metadata");
  }
  MUSTER_RETURN_IF_ERROR(check_string_map(object, "labels"));
  MUSTER_RETURN_IF_ERROR(check_string_map(object, "annotations"));
  MUSTER_RETURN_IF_ERROR(check_list(object, "finalizers", Json::value_t::string));
  return check_list(object, "ownerReferences", Json::value_t::object);
}

const Json& member(const Json& object, std::string_view first, std::string_view second) {
  static const Json kNull{};
  if (!object.is_object()) {
    return kNull;
  }
  const auto found = object.find(first);
  if (found == object.end()) {
    return kNull;
  }
  return second.empty() ? *found : member(*found, second);
}

const std::string* label(const Json& object, std::string_view key) {
  return text_in_map(object, "labels", key);
}

const std::string* annotation(const Json& object, std::string_view key) {
  return text_in_map(object, "annotations", key);
}

std::string namespace_of(const Json& object) {
  return std::string(text_of(member(object, "metadata"), "namespace"));
}

bool is_deleting(const Json& object) {
  return !member(object, "metadata", "deletionTimestamp").is_null();
}

api::StringMap labels_of(const Json& object) {
  api::StringMap labels;
  for (const auto& [key, value] : member(object, "metadata", "labels").items()) {
    labels.emplace(key, value.get<std::string>());
  }
  return labels;
}

bool is_owned_by_job_kind(const Json& object) {
  const Json* owner = controller(object);
  if (owner == nullptr) {
    return false;
  }
  const std::string_view group = group_of(text_of(*owner, "apiVersion"));
  const std::string_view kind = text_of(*owner, "kind");
  return std::any_of(kJobKinds.begin(), kJobKinds.end(),
                     [&](const JobKindName& known) { return known.group == group && known.kind == kind; });
}

bool is_owned_by_job(const Json& object) {
  const Json* owner = controller(object);
  return owner != nullptr && group_of(text_of(*owner, "apiVersion")) == "batch" && text_of(*owner, "kind") == "Job";
}

void set_label(Json& object, std::string_view key, std::string_view value) {
  object_under(object_under(object, "metadata"), "labels")[std::string(key)] = std::string(value);
}

void add_finalizer(Json& object, std::string_view finalizer) {
  Json& list = object_under(object, "metadata")["finalizers"];
  if (list.is_null()) {
    list = Json::array();
  }
  if (std::find(list.begin(), list.end(), finalizer) == list.end()) {
    list.push_back(std::string(finalizer));
  }
}

}  // namespace muster::webhook
