// A single plain pod as a job kind (spec/workloads.md §3.2): gated until its Workload is admitted, deleted to stop it.
// Pods of a group and pods gated on behalf of a parent object are not of this kind. Stateless.
#pragma once

#include "controllers/jobs/job_kind.h"

namespace muster::controllers {

class PlainPodKind final : public JobKind {
 public:
  const JobKindDescription& description() const override;
  std::optional<JobView> read(const ObjectKey& key, const framework::Model& model) const override;
  framework::EffectBody start(const JobView& job, std::vector<framework::PodSetInfo> pod_sets,
                              framework::EmitEvent event) const override;
  std::vector<framework::EffectBody> stop(const JobView& job, const StopRequest& request) const override;
  std::vector<framework::EffectBody> finalize(const JobView& job) const override;

  bool restartable() const override { return false; }

  bool looks_for_ancestors() const override { return false; }
};

}  // namespace muster::controllers
