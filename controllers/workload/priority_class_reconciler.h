// A WorkloadPriorityClass whose value changed: every Workload that names it follows (spec/workloads.md §1.5). Pure.
#pragma once

#include "framework/reconciler.h"

namespace muster::controllers {

class PriorityClassReconciler final : public framework::Reconciler {
 public:
  framework::Kind kind() const override { return framework::Kind::kWorkloadPriorityClass; }

  // Looks at every Workload: priority classes change rarely.
  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;
};

}  // namespace muster::controllers
