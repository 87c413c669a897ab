#include "sim/reference/trial.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace muster::sim::reference {
namespace {

using Fails = std::function<bool(const World&)>;

// Tries the world after `change`; keeps it if it still fails.
template <class Change>
bool keep_if(World& world, const Fails& fails, Change change) {
  World smaller = world;
  change(smaller);
  if (!fails(smaller)) {
    return false;
  }
  world = std::move(smaller);
  return true;
}

template <class List>
void erase_at(List& list, std::size_t index) {
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(index));
}

bool fewer_objects(World& world, const Fails& fails) {
  bool any = false;
  for (std::size_t i = world.workloads.size(); i-- > 0;) {
    any = keep_if(world, fails, [i](World& w) { erase_at(w.workloads, i); }) || any;
  }
  for (std::size_t i = world.changes.size(); i-- > 0;) {
    any = keep_if(world, fails, [i](World& w) { erase_at(w.changes, i); }) || any;
  }
  for (std::size_t i = world.queues.size(); i-- > 0;) {
    any = keep_if(world, fails,
                  [i](World& w) {
                    erase_at(w.queues, i);
                    std::erase_if(w.workloads, [i](const WorkloadDef& d) { return d.queue == static_cast<int>(i); });
                    std::erase_if(w.changes, [i](const QuotaChange& c) { return c.queue == static_cast<int>(i); });
                    for (WorkloadDef& d : w.workloads) {
                      d.queue -= d.queue > static_cast<int>(i) ? 1 : 0;
                    }
                    for (QuotaChange& c : w.changes) {
                      c.queue -= c.queue > static_cast<int>(i) ? 1 : 0;
                    }
                  }) ||
          any;
  }
  return any;
}

bool fewer_parts(World& world, const Fails& fails) {
  bool any = false;
  for (std::size_t q = 0; q < world.queues.size(); ++q) {
    for (std::size_t g = 0; g < world.queues[q].groups.size(); ++g) {
      for (std::size_t f = world.queues[q].groups[g].flavors.size(); world.changes.empty() && f-- > 0;) {
        if (world.queues[q].groups[g].flavors.size() > 1) {
          any = keep_if(world, fails, [=](World& w) { erase_at(w.queues[q].groups[g].flavors, f); }) || any;
        }
      }
    }
    if (world.queues[q].cohort >= 0) {
      any = keep_if(world, fails, [=](World& w) { w.queues[q].cohort = -1; }) || any;
    }
  }
  for (std::size_t c = 0; c < world.cohorts.size(); ++c) {
    if (world.cohorts[c].parent >= 0) {
      any = keep_if(world, fails, [=](World& w) { w.cohorts[c].parent = -1; }) || any;
    }
    if (!world.cohorts[c].groups.empty()) {
      any = keep_if(world, fails, [=](World& w) { w.cohorts[c].groups.clear(); }) || any;
    }
  }
  for (std::size_t i = 0; i < world.workloads.size(); ++i) {
    if (world.workloads[i].pod_sets.size() > 1) {
      any = keep_if(world, fails, [=](World& w) { w.workloads[i].pod_sets.pop_back(); }) || any;
    }
  }
  return any;
}

// Values set to what a reader expects, each only if it was something else.
template <class Value, class Where>
bool plain(World& world, const Fails& fails, Value value, Where where) {
  if (where(world) == value) {
    return false;
  }
  return keep_if(world, fails, [&](World& w) { where(w) = value; });
}

bool plainer_queues(World& world, const Fails& fails) {
  bool any = false;
  for (std::size_t q = 0; q < world.queues.size(); ++q) {
    const auto set = [&](auto value, auto member) {
      any = plain(
                world, fails, value, [=](World & w) -> auto& { return w.queues[q].*member; }) ||
            any;
    };
    set(false, &QueueDef::strict);
    set(false, &QueueDef::borrow_while_preempting);
    set(std::optional<int>{}, &QueueDef::threshold);
    set(false, &QueueDef::borrow_next);
    set(true, &QueueDef::preempt_next);
    set(false, &QueueDef::prefer_preemption);
    set(Within::kNever, &QueueDef::within);
    set(Reclaim::kNever, &QueueDef::reclaim);
    set(Units{1000}, &QueueDef::weight);
    for (std::size_t g = 0; g < world.queues[q].groups.size(); ++g) {
      for (std::size_t f = 0; f < world.queues[q].groups[g].flavors.size(); ++f) {
        for (std::size_t r = 0; r < kResources; ++r) {
          const auto quota = [=](World& w) -> Quota& { return w.queues[q].groups[g].flavors[f].quota[r]; };
          any = plain(
                    world, fails, std::optional<Units>{}, [=](World & w) -> auto& { return quota(w).borrow; }) ||
                any;
          any = plain(
                    world, fails, std::optional<Units>{}, [=](World & w) -> auto& { return quota(w).lend; }) ||
                any;
        }
      }
    }
  }
  return any;
}

bool plainer_workloads(World& world, const Fails& fails) {
  bool any = false;
  for (std::size_t i = 0; i < world.workloads.size(); ++i) {
    const auto set = [&](auto value, auto member) {
      any = plain(
                world, fails, value, [=](World & w) -> auto& { return w.workloads[i].*member; }) ||
            any;
    };
    set(-1, &WorkloadDef::finishes);
    set(0, &WorkloadDef::priority);
    set(0, &WorkloadDef::arrives);
    set(0, &WorkloadDef::created);
    for (std::size_t p = 0; p < world.workloads[i].pod_sets.size(); ++p) {
      const auto set_pod = [&](auto value, auto member) {
        any = plain(
                  world, fails, value, [=](World & w) -> auto& { return w.workloads[i].pod_sets[p].*member; }) ||
              any;
      };
      set_pod(0, &PodSetDef::min_count);
      set_pod(std::max(1, world.workloads[i].pod_sets[p].min_count), &PodSetDef::count);
      set_pod(-1, &PodSetDef::pool);
      set_pod(false, &PodSetDef::tolerates);
      for (std::size_t r = 0; r < kResources; ++r) {
        any = plain(
                  world, fails,
                  std::optional<Units>{}, [=](World & w) -> auto& { return w.workloads[i].pod_sets[p].request[r]; }) ||
              any;
      }
    }
  }
  any = plain(
            world, fails, FairSharing::kOff, [](World & w) -> auto& { return w.fair; }) ||
        any;
  for (std::size_t c = 0; c < world.cohorts.size(); ++c) {
    any = plain(
              world, fails, Units{1000}, [=](World & w) -> auto& { return w.cohorts[c].weight; }) ||
          any;
  }
  for (std::size_t f = 0; f < world.flavors.size(); ++f) {
    any = plain(
              world, fails, false, [=](World & w) -> auto& { return w.flavors[f].tainted; }) ||
          any;
    any = plain(
              world, fails, -1, [=](World & w) -> auto& { return w.flavors[f].pool; }) ||
          any;
  }
  return any;
}

}  // namespace

World shrink(World world, const Fails& fails) {
  while (fewer_objects(world, fails) || fewer_parts(world, fails) || plainer_queues(world, fails) ||
         plainer_workloads(world, fails)) {
  }
  return world;
}

}  // namespace muster::sim::reference
