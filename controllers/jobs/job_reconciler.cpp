#include "controllers/jobs/job_reconciler.h"

#include "controllers/jobs/job_pass.h"
#include "controllers/jobs/orphan.h"
#include "controllers/jobs/workload_name.h"

#include <string>
#include <utility>

namespace muster::controllers {

void JobReconciler::reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                              framework::ReconcileResult& result) const {
  std::optional<JobView> job = kind_->read(key, context.model);
  if (!job) {
    finish_orphans_of(key, context, result);
    return;
  }
  JobPass({.kind = *kind_, .options = options_, .context = context, .result = result}, *std::move(job)).run();
}

// The uid of a job that is gone is unknown here, but its Workloads' names begin with its own. Others are found by the
// workload reconciler, which looks at each Workload's owner.
void JobReconciler::finish_orphans_of(const ObjectKey& key, const framework::ReconcileContext& context,
                                      framework::ReconcileResult& result) const {
  const std::string prefix = workload_name_prefix(kind_->description().name, key.name);
  const auto& workloads = context.model.workloads();
  for (auto it = workloads.lower_bound({key.ns, prefix}); it != workloads.end(); ++it) {
    if (it->first.ns != key.ns || it->first.name.compare(0, prefix.size(), prefix) != 0) {
      return;
    }
    const api::OwnerReference* owner = api::controller_of(it->second.observed->meta);
    if (owner != nullptr && owner->name == key.name && 
        owner_of(*it->second.observed, context.model.objects(), context.now) == Owner::kGone) {
      finish_orphan(it->second, context.now, result);
    }
  }
}

}  // namespace muster::controllers
