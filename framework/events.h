// What happened, as values: the only input of the core besides time. Objects arrive decoded and immutable; a relist
// after 410 arrives as the difference (client/ computes it). Events of one object keep their order.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <optional>
#include <variant>

#include "api/batch/job.h"
#include "api/core/node.h"
#include "api/core/pod.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"
#include "base/result.h"

namespace muster::framework {

using EffectId = std::uint64_t;

template <class T>
struct Upserted {
  std::shared_ptr<const T> object{};
};

template <class T>
struct Deleted {
  std::shared_ptr<const T> object{};  // last known state
};

// The initial lists of every watched kind have been delivered: decisions may begin.
struct Synced {};

// Nothing but time has passed.
struct Tick {};

// The write took effect. For a Workload write `workload` is the object as the API server answered it. `written_version`
// is the resourceVersion that the effect's object has since (empty: nothing was written, or the answer did not say).
struct EffectDone {
  EffectId id = 0;
  std::shared_ptr<const api::Workload> workload{};
  std::string written_version{};
};

// The write did not take effect, for certain: the executor has re-read the object when an answer was lost. `workload`
// is that reading (null: it does not exist, or the effect concerned no Workload).
struct EffectFailed {
  EffectId id = 0;
  Error error{};
  std::shared_ptr<const api::Workload> workload{};
};

template <class... Kinds>
struct ObjectEventOf {
  using type = std::variant<Upserted<Kinds>..., Deleted<Kinds>...>;
};

using ObjectEvent =
    ObjectEventOf<api::ResourceFlavor, api::ClusterQueue, api::Cohort, api::LocalQueue, api::WorkloadPriorityClass,
                  api::Workload, api::Job, api::Pod, api::Node, api::Namespace, api::PriorityClass, api::RuntimeClass,
                  api::LimitRange>::type;

using Event = std::variant<ObjectEvent, Synced, Tick, EffectDone, EffectFailed>;

}  // namespace muster::framework
