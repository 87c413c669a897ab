// Statuses and finalizers of ClusterQueues, Cohorts, LocalQueues and ResourceFlavors (spec/workloads.md §2.9, spec/admission.md
// §7). Written only when what they say differs from what is observed. Pure, stateless. Decision thread.
#pragma once

#include "framework/reconciler.h"

namespace muster::controllers {

enum class WeightedShares { kOmit, kShow };  // of fair sharing, in statuses

class ClusterQueueReconciler final : public framework::Reconciler {
 public:
  explicit ClusterQueueReconciler(WeightedShares shares = WeightedShares::kOmit) : shares_(shares) {}

  framework::Kind kind() const override { return framework::Kind::kClusterQueue; }

  // Also looks at ResourceFlavors that wait to be deleted: this queue may have been their last user.
  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;

 private:
  WeightedShares shares_;
};

// Its weighted share; only where fair sharing is on.
class CohortReconciler final : public framework::Reconciler {
 public:
  framework::Kind kind() const override { return framework::Kind::kCohort; }

  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;
};

class LocalQueueReconciler final : public framework::Reconciler {
 public:
  framework::Kind kind() const override { return framework::Kind::kLocalQueue; }

  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;
};

class ResourceFlavorReconciler final : public framework::Reconciler {
 public:
  framework::Kind kind() const override { return framework::Kind::kResourceFlavor; }

  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;
};

}  // namespace muster::controllers
