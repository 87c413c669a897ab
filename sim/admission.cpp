#include "sim/admission.h"

#include "api/constants.h"
#include "controllers/requests/json_edit.h"
#include "webhook/job_webhook.h"
#include "webhook/kueue_webhook.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::sim {
namespace {

using api::Json;

webhook::PublishedView view_of(const ApiServer& server, const std::string& ns) {
  webhook::PublishedView view;
  if (const Stored stored = server.find(kind_of("Namespace"), {{}, ns})) {
    api::StringMap& labels = view.namespaces[ns];
    if (const Json* given = controllers::find_at(*stored, {"metadata", "labels"}); given && given->is_object()) {
      for (const auto& [key, value] : given->items()) {
        labels[key] = value.is_string() ? value.get<std::string>() : std::string();
      }
    }
  }
  if (server.find(kind_of("LocalQueue"), {ns, api::kDefaultLocalQueue}) != nullptr) {
    view.default_queues.insert(ns);
  }
  view.default_priority_class = server.find(kind_of("WorkloadPriorityClass"), {{}, "default"}) != nullptr;
  return view;
}

Result<Json> admit_job(const ApiServer& server, Json job, const webhook::JobOptions& options) {
  const webhook::PublishedView view = view_of(server, controllers::text_at(job, {"metadata", "namespace"}));
  MUSTER_TRY(mutated, webhook::mutate_job(std::move(job), view, options));
  MUSTER_TRY(errors, webhook::validate_job(mutated, nullptr, view, options));
  if (!errors.empty()) {
    return invalid(api::to_string(errors));
  }
  return mutated;
}

}  // namespace

Result<Json> admit(const ApiServer& server, const ResourceKind& kind, Json object, const webhook::Options& options) {
  if (kind.name == "Job" && options.batch_jobs) {
    return admit_job(server, std::move(object), options.jobs);
  }
  if (kind.name == "ClusterQueue" || kind.name == "ResourceFlavor") {
    return webhook::protect_in_use(std::move(object));
  }
  return object;
}

}  // namespace muster::sim
