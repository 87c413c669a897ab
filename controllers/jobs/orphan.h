// Workloads whose job is gone: they finish, and nothing holds on to them any longer (spec/workloads.md §1.1 step 0).
// Pure; shared by the job and the workload reconciler.
#pragma once

#include "framework/reconciler.h"

namespace muster::controllers {

framework::ObjectRef workload_ref(const api::Workload& workload);

// Removes the resource-in-use finalizer, if it is there.
void drop_workload_finalizer(const api::Workload& workload, framework::ReconcileResult& result);

// Is the Workload's controlling owner there? One that was never seen may be behind in a watch of its own, so that a young
// Workload is given time; owners of a kind that this build does not know count as there.
enum class Owner { kThere, kNotSeenYet, kGone };
Owner owner_of(const api::Workload& workload, const framework::Objects& objects, TimePoint now);
// When kNotSeenYet turns into kGone.
TimePoint owner_expected_by(const api::Workload& workload);

// One step: Finished=True OwnerNotFound, and once that is stored the finalizer. A Workload that is being deleted loses
// its finalizer at once.
void finish_orphan(const framework::WorkloadState& state, TimePoint now, framework::ReconcileResult& result);

}  // namespace muster::controllers
