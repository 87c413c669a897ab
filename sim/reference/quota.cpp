#include "sim/reference/quota.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

constexpr Big kNothing = 0;

const Quota* find_quota(const std::vector<GroupDef>& groups, int fr) {
  const int flavor = fr / kResources;
  const int resource = fr % kResources;
  for (const GroupDef& group : groups) {
    if (std::find(group.resources.begin(), group.resources.end(), resource) == group.resources.end()) {
      continue;
    }
    for (const FlavorQuotas& quotas : group.flavors) {
      if (quotas.flavor == flavor) {
        return &quotas.quota[static_cast<std::size_t>(resource)];
      }
    }
  }
  return nullptr;
}

}  // namespace

QuotaState QuotaState::without(const std::vector<int>& workloads) const {
  std::vector<Charge> left;
  for (const Charge& charge : charges_) {
    if (std::find(workloads.begin(), workloads.end(), charge.workload) == workloads.end()) {
      left.push_back(charge);
    }
  }
  return {*world_, std::move(left)};
}

QuotaState QuotaState::with(Charge charge) const {
  QuotaState more = *this;
  more.charges_.push_back(std::move(charge));
  return more;
}

int QuotaState::parent(int node) const {
  const int queues = cohort_node(0);
  const int cohort = node < queues ? world_->queues[static_cast<std::size_t>(node)].cohort
                                   : world_->cohorts[static_cast<std::size_t>(node - queues)].parent;
  return cohort < 0 ? -1 : cohort_node(cohort);
}

std::vector<int> QuotaState::children(int node) const {
  std::vector<int> result;
  const int nodes = cohort_node(static_cast<int>(world_->cohorts.size()));
  for (int child = 0; child < nodes; ++child) {
    if (parent(child) == node) {
      result.push_back(child);
    }
  }
  return result;
}

const Quota* QuotaState::quota(int node, int fr) const {
  const int queues = cohort_node(0);
  if (node < queues) {
    return find_quota(world_->queues[static_cast<std::size_t>(node)].groups, fr);
  }
  const CohortDef& cohort = world_->cohorts[static_cast<std::size_t>(node - queues)];
  return cohort.object ? find_quota(cohort.groups, fr) : nullptr;
}

Big QuotaState::nominal(int node, int fr) const {
  const Quota* own = quota(node, fr);
  return own == nullptr ? kNothing : own->nominal;
}

Big QuotaState::subtree(int node, int fr) const {
  Big sum = nominal(node, fr);
  for (const int child : children(node)) {
    sum += subtree(child, fr) - local(child, fr);
  }
  return sum;
}

Big QuotaState::local(int node, int fr) const {
  const Quota* own = quota(node, fr);
  return own == nullptr || !own->lend ? kNothing : std::max(kNothing, subtree(node, fr) - *own->lend);
}

Big QuotaState::usage(int node, int fr) const {
  Big sum = 0;
  if (node < cohort_node(0)) {
    for (const Charge& charge : charges_) {
      sum += charge.queue == node ? charge.usage.of(fr) : kNothing;
    }
    return sum;
  }
  for (const int child : children(node)) {
    sum += std::max(kNothing, usage(child, fr) - local(child, fr));
  }
  return sum;
}

Big QuotaState::local_available(int node, int fr) const {
  return std::max(kNothing, local(node, fr) - usage(node, fr));
}

Big QuotaState::available(int node, int fr) const {
  if (parent(node) < 0) {
    return subtree(node, fr) - usage(node, fr);
  }
  Big from_parent = available(parent(node), fr);
  if (const Quota* own = quota(node, fr); own != nullptr && own->borrow) {
    const Big lent_out = subtree(node, fr) - local(node, fr);
    const Big used_of_parent = std::max(kNothing, usage(node, fr) - local(node, fr));
    from_parent = std::min(from_parent, lent_out - used_of_parent + *own->borrow);
  }
  return local_available(node, fr) + from_parent;
}

Big QuotaState::available_in_queue(int queue, int fr) const {
  return std::max(kNothing, available(queue, fr));
}

Big QuotaState::potential(int node, int fr) const {
  if (parent(node) < 0) {
    return subtree(node, fr);
  }
  const Big most = local(node, fr) + potential(parent(node), fr);
  const Quota* own = quota(node, fr);
  return own == nullptr || !own->borrow ? most : std::min(most, subtree(node, fr) + *own->borrow);
}

std::optional<Units> QuotaState::borrowing_limit(int node, int fr) const {
  const Quota* own = quota(node, fr);
  return own == nullptr ? std::nullopt : own->borrow;
}

Units QuotaState::weight(int node) const {
  const int queues = cohort_node(0);
  return node < queues ? world_->queues[static_cast<std::size_t>(node)].weight
                       : world_->cohorts[static_cast<std::size_t>(node - queues)].weight;
}

bool QuotaState::within_nominal(int node, const FrSet& frs) const {
  for (int fr = 0; fr < kFrs; ++fr) {
    if (frs.test(static_cast<std::size_t>(fr)) && borrows(node, fr, 0)) {
      return false;
    }
  }
  return true;
}

int QuotaState::height(int node) const {
  int tallest = 0;
  for (const int child : children(node)) {
    tallest = std::max(tallest, 1 + (child < cohort_node(0) ? 0 : height(child)));
  }
  return tallest;
}

Level QuotaState::level(int queue, int fr, Big value) const {
  if (!borrows(queue, fr, value) || parent(queue) < 0) {
    return {.borrowing = 0, .may_reclaim = parent(queue) >= 0};
  }
  Big rest = value - local_available(queue, fr);
  int cohort = parent(queue);
  for (;; cohort = parent(cohort)) {
    if (!borrows(cohort, fr, rest)) {
      return {.borrowing = height(cohort), .may_reclaim = parent(cohort) >= 0};
    }
    if (parent(cohort) < 0) {
      return {.borrowing = height(cohort), .may_reclaim = false};
    }
    rest -= local_available(cohort, fr);
  }
}

bool QuotaState::has_room(int queue, const Usage& usage) const {
  for (int fr = 0; fr < kFrs; ++fr) {
    if (usage.names(fr) && usage.of(fr) > available_in_queue(queue, fr)) {
      return false;
    }
  }
  return true;
}

}  // namespace muster::sim::reference
