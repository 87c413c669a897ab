#include "framework/model/fair_share.h"

#include "base/wide.h"

#include <algorithm>

namespace muster::framework {

namespace {

using Cell = QuotaTree::Cell;

constexpr Cell kEmpty{};

const Cell& cell_of(const QuotaTree& quota, QuotaTree::NodeIndex node, QuotaTree::FrId fr) {
  const Cell* cell = quota.find_cell(node, fr);
  return cell == nullptr ? kEmpty : *cell;
}

// Calls `visit(fr, borrowed)` for whatever the node borrows.
template <class Visit>
void for_each_borrowed(std::span<const Cell> cells, const UsageDelta& delta, Visit visit) {
  const auto borrowed = [](Amount usage, Amount subtree) { return std::max<Amount>(0, sat_sub(usage, subtree)); };
  auto change = delta.begin();
  const auto alone = [&] {  // a change where the node has neither quota nor usage
    if (change->second > 0) {
      visit(change->first, change->second);
    }
    ++change;
  };
  for (const Cell& cell : cells) {
    while (change != delta.end() && change->first < cell.fr) {
      alone();
    }
    Amount usage = cell.usage;
    if (change != delta.end() && change->first == cell.fr) {
      usage = sat_add(usage, change->second);
      ++change;
    }
    if (const Amount amount = borrowed(usage, cell.subtree); amount > 0) {
      visit(cell.fr, amount);
    }
  }
  while (change != delta.end()) {
    alone();
  }
}

std::strong_ordering compare_ratios(const DominantShare& a, const DominantShare& b) {
  const Uint128 left = wide_product(a.borrowed, b.lendable);
  const Uint128 right = wide_product(b.borrowed, a.lendable);
  return left < right   ? std::strong_ordering::less
         : left > right ? std::strong_ordering::greater
                        : std::strong_ordering::equal;
}

}  // namespace

std::weak_ordering compare(const DominantShare& a, const DominantShare& b) {
  if (a.is_infinite() || b.is_infinite()) {
    return a.is_infinite() && b.is_infinite() ? compare_ratios(a, b) : a.is_infinite() <=> b.is_infinite();
  }
  if (a.borrowed == 0 || b.borrowed == 0) {
    return (a.borrowed > 0) <=> (b.borrowed > 0);
  }
  return compare_products({a.borrowed, b.lendable, b.weight_nano}, {b.borrowed, a.lendable, a.weight_nano});
}

std::int64_t weighted_share(const DominantShare& share) {
  if (share.borrowed == 0) {
    return 0;
  }
  if (share.weight_nano == 0) {
    return kUnlimited;
  }
  constexpr std::uint64_t kThousandthsOfNano = 1'000'000'000'000;
  const Uint128 numerator = Uint128{static_cast<std::uint64_t>(share.borrowed)} * kThousandthsOfNano;
  const Uint128 denominator = wide_product(share.lendable, share.weight_nano);
  const Uint128 thousandths = (numerator + denominator - 1) / denominator;
  return thousandths > Uint128{static_cast<std::uint64_t>(kUnlimited)} ? kUnlimited
                                                                       : static_cast<std::int64_t>(thousandths);
}

UsageDelta delta_of(const QuotaTree& quota, const Usage& charged, const Usage& released) {
  UsageDelta delta;
  const auto add = [&](const Usage& usage, bool negative) {
    for (const auto& [fr, amount] : usage) {
      if (const auto id = quota.id_of(fr); id && amount != 0) {
        delta.emplace_back(*id, negative ? sat_sub(0, amount) : amount);
      }
    }
  };
  add(charged, false);
  add(released, true);
  std::stable_sort(delta.begin(), delta.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  UsageDelta merged;
  for (const auto& [fr, amount] : delta) {
    if (!merged.empty() && merged.back().first == fr) {
      merged.back().second = sat_add(merged.back().second, amount);
    } else {
      merged.emplace_back(fr, amount);
    }
  }
  return merged;
}

void pass_up(const QuotaTree& quota, QuotaTree::NodeIndex node, UsageDelta& delta) {
  for (auto& [fr, amount] : delta) {
    const Cell& cell = cell_of(quota, node, fr);
    const Amount local = cell.local_quota();
    const Amount before = std::max<Amount>(0, sat_sub(cell.usage, local));
    const Amount after = std::max<Amount>(0, sat_sub(sat_add(cell.usage, amount), local));
    amount = sat_sub(after, before);
  }
}

DominantShare share_of(const QuotaTree& quota, QuotaTree::NodeIndex node, const UsageDelta& delta) {
  DominantShare share{.weight_nano = quota.weight_nano_of(node)};
  const auto parent = quota.parent_of(node);
  if (!parent) {
    return share;
  }
  const std::span<const Cell> cells = quota.cells_of(node);
  for_each_borrowed(cells, delta, [&](QuotaTree::FrId, Amount) { share.borrows = true; });
  if (!share.borrows) {
    return share;
  }
  for (const QuotaTree::Lendable& lendable : quota.lendable_of(*parent)) {
    DominantShare of_resource = share;
    of_resource.borrowed = 0;
    of_resource.lendable = lendable.amount;
    of_resource.resource = lendable.resource;
    for_each_borrowed(cells, delta, [&](QuotaTree::FrId fr, Amount amount) {
      if (quota.resource_of(fr) == lendable.resource) {
        of_resource.borrowed = sat_add(of_resource.borrowed, amount);
      }
    });
    if (compare_ratios(of_resource, share) > 0) {
      share = of_resource;
    }
  }
  return share;
}

DominantShare share_after(const QuotaTree& quota, QuotaTree::NodeIndex queue, UsageDelta delta,
                          QuotaTree::NodeIndex node) {
  while (queue != node) {
    pass_up(quota, queue, delta);
    queue = *quota.parent_of(queue);
  }
  return share_of(quota, node, delta);
}

bool borrows_any_of(const QuotaTree& quota, QuotaTree::NodeIndex node, const UsageDelta& delta,
                    const UsageDelta& wanted) {
  bool borrows = false;
  for_each_borrowed(quota.cells_of(node), delta, [&](QuotaTree::FrId fr, Amount) {
    const auto it = std::lower_bound(wanted.begin(), wanted.end(), fr,
                                     [](const auto& item, QuotaTree::FrId id) { return item.first < id; });
    borrows = borrows || (it != wanted.end() && it->first == fr && it->second > 0);
  });
  return borrows;
}

}  // namespace muster::framework
