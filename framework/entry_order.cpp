// The order of a cycle's heads where the QueueSort plugin has none of its own.
#include "framework/points.h"

#include <algorithm>
#include <numeric>

namespace muster::framework {

namespace {

class SortedOnce final : public EntryOrder {
 public:
  SortedOnce(const std::vector<const Entry*>& entries, const QueueSort& sort) : order_(entries.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(),
                     [&](std::size_t a, std::size_t b) { return sort.entry_less(*entries[a], *entries[b]); });
  }

  std::size_t next(const Model& /*model*/) override { return order_[at_++]; }

 private:
  std::vector<std::size_t> order_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<EntryOrder> QueueSort::entry_order(std::vector<const Entry*> entries, const Model& /*model*/) const {
  return std::make_unique<SortedOnce>(entries, *this);
}

}  // namespace muster::framework
