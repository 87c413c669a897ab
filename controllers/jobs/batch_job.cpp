#include "controllers/jobs/batch_job.h"

#include "api/constants.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace muster::controllers {
namespace {

constexpr JobKindDescription kDescription{
    .kind = framework::Kind::kJob, .framework = "batch/job", .group = "batch", .version = "v1", .name = "Job"};

std::int32_t pod_count(const api::Job& job) {
  return std::min(job.parallelism, job.completions.value_or(job.parallelism));
}

std::optional<std::int32_t> min_count(const api::Job& job) {
  const std::string* text = api::find(job.meta.annotations, kMinParallelismAnnotation);
  std::int32_t value = 0;
  if (text == nullptr || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) {
    return std::nullopt;
  }
  return value >= 1 ? std::optional(value) : std::nullopt;
}

bool has_live_pods(const api::Job& job, const framework::Objects& objects) {
  const auto& keys = objects.pods_of(job.meta.uid);
  return std::any_of(keys.begin(), keys.end(), [&objects](const ObjectKey& key) {
    const api::Pod* pod = objects.find<api::Pod>(key);
    return pod != nullptr && !pod->meta.deletion_timestamp && !api::is_terminal(*pod);
  });
}

std::optional<JobOutcome> outcome_of(const api::Job& job) {
  for (const api::Condition& condition : job.conditions) {
    if (condition.status == api::ConditionStatus::kTrue &&
        (condition.type == "Complete" || condition.type == "Failed")) {
      return JobOutcome{.succeeded = condition.type == "Complete", .message = condition.message};
    }
  }
  return std::nullopt;
}

// Pods that the remaining completions do not need. Failed indexes are not counted: their quota is released later than
// it could be, never earlier.
std::vector<api::ReclaimablePod> reclaimable_of(const api::Job& job) {
  const std::int32_t pods = pod_count(job);
  if (pods <= 1 || job.succeeded == 0) {
    return {};
  }
  const std::int32_t remaining = std::max(0, job.completions.value_or(job.parallelism) - job.succeeded);
  if (remaining >= pods) {
    return {};
  }
  return {{.name = api::kDefaultPodSet, .count = pods - remaining}};
}

void read_phase(const api::Job& job, const framework::Objects& objects, JobView& view) {
  const std::string* stopping = api::find(job.meta.annotations, api::kStoppingAnnotation);
  const bool controller_stopped_it = api::is_true(job.conditions, "Suspended") && job.active == 0;
  view.stopping = job.suspend && stopping != nullptr && *stopping == "true";
  view.suspended = job.suspend && !view.stopping;
  view.active = job.active != 0 || has_live_pods(job, objects);
  view.can_inject = api::is_true(job.conditions, "Suspended");
  const bool to_restore = view.stopping || (job.suspend && job.start_time.has_value());
  view.needs_stop = !job.suspend || (to_restore && controller_stopped_it);
  view.may_release = view.suspended && !view.active && !to_restore;
}

}  // namespace

const JobKindDescription& BatchJobKind::description() const {
  return kDescription;
}

std::optional<JobView> BatchJobKind::read(const ObjectKey& key, const framework::Model& model) const {
  const api::Job* job = model.objects().find<api::Job>(key);
  if (job == nullptr) {
    return std::nullopt;
  }
  JobView view{.ref = {.kind = framework::Kind::kJob, .key = key, .uid = job->meta.uid}, .meta = &job->meta};
  view.pod_sets.push_back({.name = api::kDefaultPodSet,
                           .count = pod_count(*job),
                           .min_count = min_count(*job),
                           .pod_template = job->pod_template});
  read_phase(*job, model.objects(), view);
  view.pods_ready = job->succeeded + job->ready + job->uncounted_succeeded >= pod_count(*job);
  view.reclaims = true;
  view.reclaimable = reclaimable_of(*job);
  view.outcome = outcome_of(*job);
  return view;
}

framework::EffectBody BatchJobKind::start(const JobView& job, std::vector<framework::PodSetInfo> pod_sets,
                                          framework::EmitEvent event) const {
  return framework::StartJob{.job = job.ref, .pod_sets = std::move(pod_sets), .event = std::move(event)};
}

std::vector<framework::EffectBody> BatchJobKind::stop(const JobView& job, const StopRequest& request) const {
  return {framework::StopJob{.job = job.ref,
                             .workload = request.workload,
                             .reason = std::string(request.reason),
                             .message = request.message,
                             .event = job_event(job, request.event, request.message)}};
}

std::vector<framework::EffectBody> BatchJobKind::finalize(const JobView& /*job*/) const {
  return {};
}

}  // namespace muster::controllers
