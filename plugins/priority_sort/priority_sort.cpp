#include "plugins/priority_sort/priority_sort.h"

#include "api/codec/reader.h"
#include "framework/queue_order.h"

namespace muster::plugins {

Result<std::unique_ptr<PrioritySort>> PrioritySort::create(const api::Json& args, const framework::PluginDeps& deps) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(
      std::unique_ptr<PrioritySort>(new PrioritySort(deps.feature("PrioritySortingWithinCohort", true))));
}

bool PrioritySort::less(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) const {
  return framework::queued_before(a, b);
}

bool PrioritySort::entry_less(const framework::Entry& a, const framework::Entry& b) const {
  if (a.assignment.borrow_level != b.assignment.borrow_level) {
    return a.assignment.borrow_level < b.assignment.borrow_level;
  }
  return priority_among_heads_ ? less(*a.workload, *b.workload) : framework::queued_earlier(*a.workload, *b.workload);
}

}  // namespace muster::plugins
