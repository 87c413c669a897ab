#include "framework/cycle/count_reduction.h"

namespace muster::framework {

CountReduction::CountReduction(const std::vector<PodSetTotals>& pod_sets) {
  for (const PodSetTotals& totals : pod_sets) {
    ranges_.push_back({.most = totals.count, .spare = totals.count - totals.min_count});
    steps_ += ranges_.back().spare;
  }
}

std::vector<std::int32_t> CountReduction::counts(std::int64_t step) const {
  std::vector<std::int32_t> counts;
  for (const Range& range : ranges_) {
    const std::int64_t removed = steps_ == 0 ? 0 : static_cast<std::int64_t>(Wide{range.spare} * step / steps_);
    counts.push_back(static_cast<std::int32_t>(range.most - removed));
  }
  return counts;
}

std::optional<std::int64_t> CountReduction::first(const std::function<bool(std::int64_t)>& works) const {
  std::int64_t low = 0;
  std::int64_t high = steps_ + 1;
  std::optional<std::int64_t> found;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (works(middle)) {
      found = middle;
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return found;
}

}  // namespace muster::framework
