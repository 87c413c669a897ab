// Why a Workload without reservation waits, as far as queues, gates and its own spec decide it (spec/workloads.md
// §2.4). What the scheduler found out stands unless something here overrides it. Pure; reads the model.
#pragma once

#include "api/kueue/workload.h"
#include "framework/model/model.h"

#include <optional>
#include <string>
#include <string_view>

namespace muster::controllers {

struct PendingReason {
  std::string_view reason{};
  std::string message{};
};

// The first thing that keeps the Workload from being scheduled; nothing when the queue may try it.
std::optional<PendingReason> blocker_of(const api::Workload& workload, const framework::Model& model);

// Was this QuotaReserved=False written for something that blocker_of knows? Then it falls with its cause.
bool is_blocker(const api::Condition& quota_reserved);

// LocalQueue or ClusterQueue of a Workload that holds quota but is not admitted: why it must give it back.
std::optional<PendingReason> lost_queue_of(const api::Workload& workload, const api::Admission& admission,
                                           const framework::Model& model);

}  // namespace muster::controllers
