// Dominant resource share of a node of the quota tree (spec/admission.md §5.4): what it borrows of its dominant
// resource, as a part of what could be lent to it, divided by its weight. Exact: shares are compared by cross product,
// nothing is rounded before. Pure functions over QuotaTree.
#pragma once

#include "framework/model/quota_tree.h"

#include <compare>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace muster::framework {

struct DominantShare {
  Amount borrowed = 0;  // of the dominant resource; 0: the share is 0, whatever the weight
  Amount lendable = 1;  // positive
  Amount weight_nano = 1'000'000'000;
  std::optional<QuotaTree::ResourceId> resource{};  // the dominant one: first by name among equals
  bool borrows = false;                             // anything at all, even what nobody has to lend

  // Weight zero, and it borrows.
  bool is_infinite() const { return borrowed > 0 && weight_nano == 0; }
};

// Infinite shares are greater than all others; among themselves the larger ratio, without the weight, is greater.
// A strict weak order.
std::weak_ordering compare(const DominantShare& a, const DominantShare& b);

// Thousandths, rounded up, as statuses show it; an infinite share is the largest int64.
std::int64_t weighted_share(const DominantShare& share);

// What is charged (or, negative, released) at one node, sorted by id.
using UsageDelta = std::vector<std::pair<QuotaTree::FrId, Amount>>;

// Amounts of resources that the tree does not know are left out: nobody has quota for them.
UsageDelta delta_of(const QuotaTree& quota, const Usage& charged, const Usage& released = {});
// Turns what changes at `node` into what changes at its parent: a node's own unlent quota keeps its part.
void pass_up(const QuotaTree& quota, QuotaTree::NodeIndex node, UsageDelta& delta);

// The share of `node`, with its usage changed by `delta`. A root has none. O(quotas of the node · resources).
DominantShare share_of(const QuotaTree& quota, QuotaTree::NodeIndex node, const UsageDelta& delta = {});
// The share of `node` once `delta` has happened at `queue`, which lies under it or is it.
DominantShare share_after(const QuotaTree& quota, QuotaTree::NodeIndex queue, UsageDelta delta,
                          QuotaTree::NodeIndex node);
// Does the node, with its usage changed by `delta`, borrow anything of which `wanted` has a positive amount?
bool borrows_any_of(const QuotaTree& quota, QuotaTree::NodeIndex node, const UsageDelta& delta,
                    const UsageDelta& wanted);

}  // namespace muster::framework
