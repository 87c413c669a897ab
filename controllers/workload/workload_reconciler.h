// The life of a Workload apart from its job (spec/workloads.md §2.3): retention, deactivation, back-off, queues that
// stop, time limits, and the reason why it waits. Level-triggered and pure. Decision thread.
#pragma once

#include "controllers/options.h"
#include "framework/reconciler.h"

#include <utility>

namespace muster::controllers {

class WorkloadReconciler final : public framework::Reconciler {
 public:
  explicit WorkloadReconciler(ControllerOptions options) : options_(std::move(options)) {}

  framework::Kind kind() const override { return framework::Kind::kWorkload; }

  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;

 private:
  ControllerOptions options_;
};

}  // namespace muster::controllers
