// Partial admission (spec/admission.md §3.8): the counts between what a Workload asks for and the least it accepts, as
// one line of steps, and the search for the largest that works. Pure.
#pragma once

#include "framework/workload_info.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace muster::framework {

class CountReduction {
 public:
  explicit CountReduction(const std::vector<PodSetTotals>& pod_sets);

  // Step 0 is everything; 0 steps: no podset may shrink.
  std::int64_t steps() const { return steps_; }

  std::vector<std::int32_t> counts(std::int64_t step) const;

  // Binary search for the first step that works, taking it that whatever works with more pods works with fewer. None
  // when not even the last one does.
  std::optional<std::int64_t> first(const std::function<bool(std::int64_t)>& works) const;

 private:
  struct Range {
    std::int32_t most = 0;
    std::int32_t spare = 0;
  };

  std::vector<Range> ranges_{};
  std::int64_t steps_ = 0;
};

}  // namespace muster::framework
