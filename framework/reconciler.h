// The contract of controllers/: level-triggered, pure reconcilers that the core runs for every object touched by an
// event or a decision. They read the model, never write it: what should change is returned.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/time.h"
#include "framework/effects.h"
#include "framework/model/model.h"

namespace muster::framework {

struct PendingCounts {
  std::int32_t active = 0;
  std::int32_t inadmissible = 0;
  std::int32_t total() const { return active + inadmissible; }
};

// What reconcilers may know of the queue. Implemented by framework/queue.
class QueueView {
 public:
  virtual ~QueueView() = default;
  virtual PendingCounts pending(const ClusterQueueName& queue) const = 0;
  virtual PendingCounts pending_in(const ObjectKey& local_queue) const = 0;
};

// What the core has handed out. Implemented by the core.
class WritesView {
 public:
  virtual ~WritesView() = default;
  // A write of this object is under way, or done and not yet seen by a watch: what the model says of it may be old.
  // Found by kind and key; the uid does not matter.
  virtual bool pending(const ObjectRef& object) const = 0;
};

struct ReconcileContext {
  const Model& model;
  const QueueView& queue;
  TimePoint now{};
  const WritesView* writes = nullptr;  // null: nothing is under way

  bool write_pending(const ObjectRef& object) const { return writes != nullptr && writes->pending(object); }
};

struct ReconcileResult {
  std::vector<EffectBody> effects{};
  // New assumed statuses of Workloads (whole status). The core assumes them and writes each once a settle, merged.
  std::vector<std::pair<ObjectKey, api::WorkloadStatus>> workload_statuses{};
  // Look at this object again no later than then, although nothing happens.
  std::optional<TimePoint> again_at{};

  void requeue_at(TimePoint when) {
    if (!again_at || when < *again_at) {
      again_at = when;
    }
  }
};

class Reconciler {
 public:
  virtual ~Reconciler() = default;
  virtual Kind kind() const = 0;
  // The object may be gone: then only its dependents are looked at.
  virtual void reconcile(const ObjectKey& key, const ReconcileContext& context, ReconcileResult& result) const = 0;
};

}  // namespace muster::framework
