#include "controllers/workload/pending_reason.h"

#include "framework/status/cluster_queue_active.h"
#include "framework/status/workload_conditions.h"

namespace muster::controllers {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::optional<PendingReason> namespace_blocker(const api::Workload& workload, const api::ClusterQueue& queue,
                                               const framework::Objects& objects) {
  const api::Namespace* ns = objects.all<api::Namespace>().find(workload.meta.ns);
  if (ns == nullptr) {
    return PendingReason{framework::kMisconfigured, "workload namespace \"" + workload.meta.ns +
                                                        "\" does not exist: namespaces \"" + workload.meta.ns +
                                                        "\" not found"};
  }
  if (!queue.namespace_selector || !api::matches(*queue.namespace_selector, ns->meta.labels)) {
    return PendingReason{framework::kMisconfigured, "workload namespace doesn't match ClusterQueue selector"};
  }
  return std::nullopt;
}

std::optional<PendingReason> queue_blocker(const api::Workload& workload, const framework::Model& model) {
  const framework::Objects& objects = model.objects();
  const std::string local_name = "LocalQueue " + workload.queue_name.str();
  const auto* local = objects.find<api::LocalQueue>({workload.meta.ns, workload.queue_name.str()});
  if (local == nullptr) {
    return PendingReason{framework::kMisconfigured, local_name + " doesn't exist"};
  }
  if (local->stop_policy != api::StopPolicy::kNone) {
    return PendingReason{framework::kSuspended, local_name + " is inactive"};
  }
  const std::string cluster_name = "ClusterQueue " + local->cluster_queue.str();
  const auto* cluster = objects.all<api::ClusterQueue>().find(local->cluster_queue.str());
  if (cluster == nullptr) {
    return PendingReason{framework::kMisconfigured, cluster_name + " doesn't exist"};
  }
  if (!framework::is_active(model, local->cluster_queue)) {
    return PendingReason{framework::kSuspended, cluster_name + " is inactive"};
  }
  return namespace_blocker(workload, *cluster, objects);
}

template <class Queue>
std::optional<PendingReason> lost(const Queue* queue, const std::string& name) {
  if (queue == nullptr || queue->meta.deletion_timestamp) {
    return PendingReason{framework::kMisconfigured, name + " is terminating or missing"};
  }
  if (queue->stop_policy != api::StopPolicy::kNone) {
    return PendingReason{framework::kSuspended, name + " is stopped"};
  }
  return std::nullopt;
}

}  // namespace

std::optional<PendingReason> blocker_of(const api::Workload& workload, const framework::Model& model) {
  if (!workload.active) {
    return PendingReason{framework::kEvictedDeactivated, "The workload is deactivated"};
  }
  if (auto blocker = queue_blocker(workload, model)) {
    return blocker;
  }
  if (const std::string* gate = api::admission_gate(workload)) {
    return PendingReason{framework::kAdmissionGated, "Admission is gated by: " + *gate};
  }
  return std::nullopt;
}

bool is_blocker(const api::Condition& quota_reserved) {
  const std::string& reason = quota_reserved.reason;
  const std::string& message = quota_reserved.message;
  if (reason == framework::kMisconfigured || reason == "Inadmissible") {
    return starts_with(message, "LocalQueue ") || starts_with(message, "ClusterQueue ") ||
           starts_with(message, "workload namespace ");
  }
  return reason == framework::kEvictedDeactivated || reason == framework::kSuspended ||
         reason == framework::kAdmissionGated;
}

std::optional<PendingReason> lost_queue_of(const api::Workload& workload, const api::Admission& admission,
                                           const framework::Model& model) {
  const framework::Objects& objects = model.objects();
  const auto* local = objects.find<api::LocalQueue>({workload.meta.ns, workload.queue_name.str()});
  if (auto reason = lost(local, "LocalQueue " + workload.queue_name.str())) {
    return reason;
  }
  const auto* cluster = objects.all<api::ClusterQueue>().find(admission.cluster_queue.str());
  return lost(cluster, "ClusterQueue " + admission.cluster_queue.str());
}

}  // namespace muster::controllers
