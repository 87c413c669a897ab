#include "plugins/priority_sort/priority_sort.h"

#include "api/codec/reader.h"

namespace muster::plugins {
namespace {

bool earlier(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) {
  return a.queue_time != b.queue_time ? a.queue_time < b.queue_time : a.uid() < b.uid();
}

}  // namespace

Result<std::unique_ptr<PrioritySort>> PrioritySort::create(const api::Json& args, const framework::PluginDeps& deps) {
  api::Problems problems;
  api::Reader(args, problems).allow_only({});
  return std::move(problems).finish(
      std::unique_ptr<PrioritySort>(new PrioritySort(deps.feature("PrioritySortingWithinCohort", true))));
}

bool PrioritySort::less(const framework::WorkloadInfo& a, const framework::WorkloadInfo& b) const {
  return a.priority != b.priority ? a.priority > b.priority : earlier(a, b);
}

bool PrioritySort::entry_less(const framework::Entry& a, const framework::Entry& b) const {
  if (a.assignment.borrow_level != b.assignment.borrow_level) {
    return a.assignment.borrow_level < b.assignment.borrow_level;
  }
  return priority_among_heads_ ? less(*a.workload, *b.workload) : earlier(*a.workload, *b.workload);
}

}  // namespace muster::plugins
