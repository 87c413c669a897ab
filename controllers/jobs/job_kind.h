// A job kind: what the generic reconciler must know of a kind of job. Built-in kinds are a description plus the code
// here; what can be said as data (names, pointers to fields) is in the description, so that a kind given as a file can
// fill the same interface. Kinds are stateless, pure, and read the model only. Decision thread.
#pragma once

#include "api/kueue/workload.h"
#include "framework/effects.h"
#include "framework/reconciler.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::controllers {

struct JobKindDescription {
  framework::Kind kind{};
  std::string_view framework{};  // name in integrations.frameworks, `batch/job`
  std::string_view group{};      // empty for the core group
  std::string_view version{};
  std::string_view name{};  // `Job`
};

struct JobOutcome {
  bool succeeded = false;
  std::string message{};
};

// One job, as the generic reconciler reads it.
struct JobView {
  framework::ObjectRef ref{};
  const api::ObjectMeta* meta = nullptr;  // borrowed from the model
  std::vector<api::PodSet> pod_sets{};
  bool suspended = false;    // and its template restored: it may be started
  bool stopping = false;     // the stop sequence has begun and is not complete
  bool active = false;       // pods may run
  bool may_release = false;  // the kind's rule lets the quota of an evicted Workload go
  bool can_inject = true;    // the API server accepts podset infos now
  bool needs_stop = false;   // a stop has something to do, and the API server would let it
  bool pods_ready = false;
  bool reclaims = false;  // the kind tells which pods are no longer needed
  std::vector<api::ReclaimablePod> reclaimable{};
  std::optional<JobOutcome> outcome{};

  bool deleting() const { return meta->deletion_timestamp.has_value(); }
};

// Why a job is stopped (spec/workloads.md §1.7).
struct StopRequest {
  std::string_view reason{};  // kStop…
  std::string cause{};        // the eviction's reason
  std::string message{};      // note of the event
  std::string_view event = "Stopped";
  std::optional<framework::ObjectRef> workload{};  // whose templates are restored
  TimePoint now{};
};

inline constexpr std::string_view kStopNotAdmitted = "NotAdmitted";
inline constexpr std::string_view kStopNoMatchingWorkload = "NoMatchingWorkload";
inline constexpr std::string_view kStopWorkloadDeleted = "WorkloadDeleted";
inline constexpr std::string_view kStopWorkloadEvicted = "WorkloadEvicted";

class JobKind {
 public:
  virtual ~JobKind() = default;
  virtual const JobKindDescription& description() const = 0;
  // Nothing when the object does not exist or is not a job of this kind (a pod that nobody gated).
  virtual std::optional<JobView> read(const ObjectKey& key, const framework::Model& model) const = 0;
  virtual framework::EffectBody start(const JobView& job, std::vector<framework::PodSetInfo> pod_sets,
                                      framework::EmitEvent event) const = 0;
  virtual std::vector<framework::EffectBody> stop(const JobView& job, const StopRequest& request) const = 0;
  // What still holds on to a job that is finished or being deleted.
  virtual std::vector<framework::EffectBody> finalize(const JobView& job) const = 0;

  // May a Workload of this kind, once evicted, be queued again for the same job?
  virtual bool restartable() const { return true; }

  // Found as a child of another managed job, it is governed by that one (top-level kinds never look).
  virtual bool looks_for_ancestors() const { return true; }
};

framework::EmitEvent job_event(const JobView& job, std::string_view reason, std::string note);

const std::string* queue_name_of(const api::ObjectMeta& meta);
// The label max-exec-time-seconds as a positive number.
std::optional<std::int32_t> max_execution_seconds_of(const api::ObjectMeta& meta);

}  // namespace muster::controllers
