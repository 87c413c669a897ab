#include "sim/patch.h"

#include "controllers/requests/json_edit.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <utility>

namespace muster::sim {
namespace {

using api::Json;

void merge_conditions(const Json& patch, Json& conditions) {
  if (!conditions.is_array()) {
    conditions = Json::array();
  }
  for (const Json& condition : patch) {
    const std::string type = controllers::text_at(condition, {"type"});
    const auto known = std::find_if(conditions.begin(), conditions.end(),
                                    [&type](const Json& have) { return controllers::text_at(have, {"type"}) == type; });
    if (known == conditions.end()) {
      conditions.push_back(condition);
    } else {
      known->merge_patch(condition);
    }
  }
}

Json strategic(Json object, Json patch) {
  const Json* conditions = controllers::find_at(patch, {"status", "conditions"});
  if (conditions != nullptr && conditions->is_array()) {
    Json merged = Json::array();
    if (const Json* have = controllers::find_at(object, {"status", "conditions"})) {
      merged = *have;
    }
    merge_conditions(*conditions, merged);
    patch["status"]["conditions"] = std::move(merged);
  }
  object.merge_patch(patch);
  return object;
}

Json applied(Json object, const Json& config) {
  constexpr std::array kMaps = {"labels", "annotations"};
  for (const char* map : kMaps) {
    if (const Json* entries = controllers::find_at(config, {"metadata", map}); entries && entries->is_object()) {
      controllers::object_at(object, {"metadata", map}).update(*entries);
    }
  }
  for (const char* precondition : {"uid", "resourceVersion"}) {
    if (const Json* value = controllers::find_at(config, {"metadata", precondition})) {
      object["metadata"][precondition] = *value;
    }
  }
  if (const Json* spec = controllers::find_at(config, {"spec"}); spec != nullptr && spec->is_object()) {
    controllers::object_at(object, {"spec"}).update(*spec);
  }
  if (const Json* status = controllers::find_at(config, {"status"})) {
    object["status"] = *status;
  }
  return object;
}

}  // namespace

Result<Json> apply_patch(std::string_view content_type, const Json& object, const std::string& body) {
  MUSTER_TRY(patch, api::parse_json(body));
  if (content_type == "application/json-patch+json") {
    try {
      return object.patch(patch);
    } catch (const Json::exception& error) {
      return invalid(error.what());
    }
  }
  if (!patch.is_object()) {
    return invalid("the patch is no object");
  }
  if (content_type == "application/merge-patch+json") {
    Json result = object;
    result.merge_patch(patch);
    return result;
  }
  if (content_type == "application/strategic-merge-patch+json") {
    return strategic(object, std::move(patch));
  }
  if (content_type == "application/apply-patch+yaml") {
    return applied(object, patch);
  }
  return invalid("unsupported patch type " + std::string(content_type));
}

}  // namespace muster::sim
