// The order of Kueue's queues: higher effective priority, then earlier queue-order time, then smaller uid
// (spec/admission.md §1.2, §4.3). Stateless; any one thread at a time.
#pragma once

#include "framework/points.h"
#include "framework/registry.h"

#include <memory>
#include <string_view>

namespace muster::plugins {

class PrioritySort final : public framework::QueueSort {
 public:
  static constexpr std::string_view kName = "PrioritySort";

  // Takes no arguments. Gate `PrioritySortingWithinCohort` (on by default) lets priority count among the heads of a
  // cycle.
  static Result<std::unique_ptr<PrioritySort>> create(const api::Json& args, const framework::PluginDeps& deps);

  bool less(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) const override;
  // Who borrows from less far away goes first, then as above.
  bool entry_less(const framework::Entry& a, const framework::Entry& b) const override;

 private:
  explicit PrioritySort(bool priority_among_heads) : priority_among_heads_(priority_among_heads) {}

  bool priority_among_heads_;
};

}  // namespace muster::plugins
