#include "webhook/kueue_webhook.h"

#include "api/constants.h"
#include "webhook/object.h"

#include <nlohmann/json.hpp>

namespace muster::webhook {

using api::Json;

Result<Json> protect_in_use(Json object) {
  MUSTER_RETURN_IF_ERROR(check_shape(object));
  add_finalizer(object, api::kResourceInUseFinalizer);
  return object;
}

Result<Json> without_min_counts(Json workload) {
  MUSTER_RETURN_IF_ERROR(check_shape(workload));
  if (!member(workload, "spec", "podSets").is_array()) {
    return workload;
  }
  for (Json& pod_set : workload["spec"]["podSets"]) {
    if (pod_set.is_object()) {
      pod_set.erase("minCount");
    }
  }
  return workload;
}

}  // namespace muster::webhook
