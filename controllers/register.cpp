#include "controllers/register.h"

#include "controllers/jobs/batch_job.h"
#include "controllers/jobs/job_reconciler.h"
#include "controllers/jobs/plain_pod.h"
#include "controllers/status/queue_status.h"
#include "controllers/workload/priority_class_reconciler.h"
#include "controllers/workload/workload_reconciler.h"

namespace muster::controllers {

std::vector<std::unique_ptr<framework::Reconciler>> make_reconcilers(const ControllerOptions& options) {
  std::vector<std::unique_ptr<framework::Reconciler>> reconcilers;
  if (options.batch_jobs) {
    reconcilers.push_back(std::make_unique<JobReconciler>(std::make_unique<BatchJobKind>(), options));
  }
  if (options.pods) {
    reconcilers.push_back(std::make_unique<JobReconciler>(std::make_unique<PlainPodKind>(), options));
  }
  reconcilers.push_back(std::make_unique<WorkloadReconciler>(options));
  reconcilers.push_back(std::make_unique<PriorityClassReconciler>());
  if (options.fair_sharing) {
    reconcilers.push_back(std::make_unique<CohortReconciler>());
  }
  reconcilers.push_back(std::make_unique<ClusterQueueReconciler>(options.fair_sharing ? WeightedShares::kShow
                                                                                      : WeightedShares::kOmit));
  reconcilers.push_back(std::make_unique<LocalQueueReconciler>());
  reconcilers.push_back(std::make_unique<ResourceFlavorReconciler>());
  return reconcilers;
}

}  // namespace muster::controllers
