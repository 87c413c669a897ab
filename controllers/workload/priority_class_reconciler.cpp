#include "controllers/workload/priority_class_reconciler.h"

#include "api/constants.h"
#include "controllers/jobs/orphan.h"

namespace muster::controllers {

void PriorityClassReconciler::reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                                        framework::ReconcileResult& result) const {
  const auto* priority_class = context.model.objects().find<api::WorkloadPriorityClass>(key);
  if (priority_class == nullptr) {
    return;
  }
  for (const auto& [name, state] : context.model.workloads()) {
    const api::Workload& workload = *state.observed;
    const auto& ref = workload.priority_class_ref;
    if (ref && ref->group == api::kKueueGroup && ref->name == key.name && workload.priority != priority_class->value &&
        !api::is_finished(workload)) {
      result.effects.emplace_back(
          framework::PatchWorkloadSpec{.workload = workload_ref(workload), .priority = priority_class->value});
    }
  }
}

}  // namespace muster::controllers
