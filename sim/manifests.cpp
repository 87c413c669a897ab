#include "sim/manifests.h"

#include "api/codec/yaml.h"
#include "api/constants.h"
#include "api/validation/validate.h"
#include "controllers/requests/json_edit.h"
#include "sim/durations.h"
#include "sim/known_fields.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::sim {
namespace {

using api::Json;
using controllers::find_at;
using controllers::object_at;
using controllers::text_at;

constexpr std::array kInput = {
    "Namespace",     "ResourceFlavor", "Cohort",     "ClusterQueue", "LocalQueue", "WorkloadPriorityClass",
    "PriorityClass", "RuntimeClass",   "LimitRange", "Node",         "Job"};

bool is_input(const ResourceKind& kind) {
  return std::find(kInput.begin(), kInput.end(), kind.name) != kInput.end();
}

api::FieldErrors validate(const ResourceKind& kind, const Json& object) {
  if (kind.name == "ClusterQueue") {
    return api::validate_cluster_queue(object, nullptr);
  }
  if (kind.name == "Cohort") {
    return api::validate_cohort(object);
  }
  return kind.name == "ResourceFlavor" ? api::validate_resource_flavor(object) : api::FieldErrors{};
}

Status check(const ResourceKind& kind, const Json& object) {
  if (text_at(object, {"metadata", "name"}).empty()) {
    return invalid("Required value", "metadata.name");
  }
  if (const auto field = first_unknown_field(std::string(kind.name), object)) {
    return invalid("unknown field", *field);
  }
  if (const auto decoded = kind.upserted(object); !decoded.ok()) {
    return decoded.error();
  }
  if (const api::FieldErrors errors = validate(kind, object); !errors.empty()) {
    return invalid(api::to_string(errors));
  }
  if (const auto run_time = duration_annotation(object, api::kRunTimeAnnotation); !run_time.ok()) {
    return run_time.error();
  }
  return {};
}

Error in_document(Error error, const std::string& where) {
  error.message = where + ": " + to_string(error);
  error.path.clear();
  return error;
}

Status read_object(Json object, const std::string& where, Manifests& out);

Status read_list(const Json& items, const std::string& where, Manifests& out) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    MUSTER_RETURN_IF_ERROR(read_object(items[i], where + fmt::format(", items[{}]", i), out));
  }
  return {};
}

Status read_object(Json object, const std::string& where, Manifests& out) {
  const std::string api_version = text_at(object, {"apiVersion"});
  const std::string name = text_at(object, {"kind"});
  if (api_version.empty() || name.empty()) {
    return in_document(invalid("Required value", api_version.empty() ? "apiVersion" : "kind"), where);
  }
  if (const Json* items = find_at(object, {"items"}); items != nullptr && items->is_array() && name.ends_with("List")) {
    return read_list(*items, where, out);
  }
  const ResourceKind* kind = find_kind(api_version, name);
  if (kind == nullptr || !is_input(*kind)) {
    out.warnings.push_back(fmt::format("{}: {} of {} is not simulated, left out", where, name, api_version));
    return {};
  }
  if (kind->namespaced && text_at(object, {"metadata", "namespace"}).empty()) {
    object_at(object, {"metadata"})["namespace"] = "default";
  }
  const std::string title = fmt::format("{}: {} {}", where, name, text_at(object, {"metadata", "name"}));
  if (const Status status = check(*kind, object); !status.ok()) {
    return in_document(status.error(), title);
  }
  const auto at = duration_annotation(object, api::kSubmitTimeAnnotation);
  if (!at.ok()) {
    return in_document(at.error(), title);
  }
  out.submissions.push_back({.at = at->value_or(Duration::zero()), .kind = kind, .object = std::move(object)});
  return {};
}

}  // namespace

Status read_manifests(std::string_view yaml, const std::string& source, Manifests& out) {
  auto documents = api::yaml_to_json(yaml);
  if (!documents.ok()) {
    return in_document(documents.error(), source);
  }
  for (std::size_t i = 0; i < documents->size(); ++i) {
    MUSTER_RETURN_IF_ERROR(read_object(std::move((*documents)[i]), fmt::format("{}, document {}", source, i + 1), out));
  }
  return {};
}

}  // namespace muster::sim
