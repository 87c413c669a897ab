// batch/v1 Job as a job kind (spec/workloads.md §3.3). Stateless.
#pragma once

#include "controllers/jobs/job_kind.h"

namespace muster::controllers {

inline constexpr char kMinParallelismAnnotation[] = "kueue.x-k8s.io/job-min-parallelism";
inline constexpr char kCompletionsFollowAnnotation[] = "kueue.x-k8s.io/job-completions-equal-parallelism";

class BatchJobKind final : public JobKind {
 public:
  const JobKindDescription& description() const override;
  std::optional<JobView> read(const ObjectKey& key, const framework::Model& model) const override;
  framework::EffectBody start(const JobView& job, std::vector<framework::PodSetInfo> pod_sets,
                              framework::EmitEvent event) const override;
  std::vector<framework::EffectBody> stop(const JobView& job, const StopRequest& request) const override;
  std::vector<framework::EffectBody> finalize(const JobView& job) const override;
};

}  // namespace muster::controllers
