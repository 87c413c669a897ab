// The generic job reconciler (spec/workloads.md §1.1): one Workload for every managed job, the job running exactly
// while its Workload is admitted, and the Workload told what became of the job. Level-triggered and pure. Decision
// thread.
//
// What is done to a job follows what is stored, not what is merely assumed: a job starts once the stored status says
// Admitted, and is stopped for an eviction once the stored status says Evicted.
#pragma once

#include "controllers/jobs/job_kind.h"
#include "controllers/options.h"
#include "framework/reconciler.h"

#include <memory>

namespace muster::controllers {

class JobReconciler final : public framework::Reconciler {
 public:
  JobReconciler(std::unique_ptr<const JobKind> kind, ControllerOptions options)
      : kind_(std::move(kind)), options_(std::move(options)) {}

  framework::Kind kind() const override { return kind_->description().kind; }

  void reconcile(const ObjectKey& key, const framework::ReconcileContext& context,
                 framework::ReconcileResult& result) const override;

 private:
  void finish_orphans_of(const ObjectKey& key, const framework::ReconcileContext& context,
                         framework::ReconcileResult& result) const;

  std::unique_ptr<const JobKind> kind_;
  ControllerOptions options_;
};

}  // namespace muster::controllers
