#include "sim/reference/world.h"

#include "sim/reference/random.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

constexpr Units kCore = 1000;
constexpr bool kFairWorlds = false;
constexpr bool kShrinkingWorlds = false;

// Draws one world. Every choice is small: a failing world should be one that a person can hold in the head.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) { world_.seed = seed; }

  World run() {
    if (kFairWorlds && random_.chance(35)) {
      world_.fair = static_cast<FairSharing>(random_.between(1, 3));
    }
    draw_flavors();
    draw_cohorts();
    const int queues = random_.between(1, 4);
    for (int i = 0; i < queues; ++i) {
      draw_queue();
    }
    draw_workloads();
    draw_changes();
    return std::move(world_);
  }

 private:
  void draw_flavors() {
    const int flavors = random_.between(1, 3);
    const bool plain = random_.chance(60);
    for (int i = 0; i < flavors; ++i) {
      FlavorDef& flavor = world_.flavors.emplace_back();
      if (!plain) {
        flavor.pool = random_.chance(40) ? random_.below(2) : -1;
        flavor.tainted = random_.chance(20);
        flavor.exists = !random_.chance(3);
      }
    }
    resources_ = random_.chance(60) ? 1 : 2;
    counts_pods_ = random_.chance(8);
    tight_ = random_.chance(70);
  }

  void draw_cohorts() {
    const int cohorts = random_.chance(15) ? 0 : random_.between(1, 4);
    for (int i = 0; i < cohorts; ++i) {
      CohortDef& cohort = world_.cohorts.emplace_back();
      if (i > 0 && random_.chance(75)) {
        cohort.parent = random_.below(i);
        if (depth(cohort.parent) >= 2) {
          cohort.parent = world_.cohorts[static_cast<std::size_t>(cohort.parent)].parent;
        }
      }
      cohort.object = cohort.parent >= 0 || random_.chance(50);
      cohort.weight = cohort.object ? draw_weight() : cohort.weight;
      if (cohort.object && random_.chance(50)) {
        cohort.groups = draw_groups(30, cohort.parent >= 0);
      }
    }
  }

  Units draw_weight() {
    constexpr Units kOthers[] = {0, 500, 2000};
    return world_.fair == FairSharing::kOff || random_.chance(70) ? 1000 : kOthers[random_.below(3)];
  }

  int depth(int cohort) const {
    int result = 0;
    for (; cohort >= 0; cohort = world_.cohorts[static_cast<std::size_t>(cohort)].parent) {
      ++result;
    }
    return result - 1;
  }

  void draw_queue() {
    QueueDef& queue = world_.queues.emplace_back();
    if (!world_.cohorts.empty() && random_.chance(90)) {
      queue.cohort = random_.below(static_cast<int>(world_.cohorts.size()));
    }
    queue.strict = random_.chance(40);
    queue.within = static_cast<Within>(random_.below(3));
    queue.reclaim = static_cast<Reclaim>(random_.below(3));
    if (queue.reclaim != Reclaim::kNever && random_.chance(35)) {
      queue.borrow_while_preempting = true;
      if (random_.chance(50)) {
        queue.threshold = random_.between(-1, 1);
      }
    }
    queue.borrow_next = random_.chance(40);
    queue.preempt_next = random_.chance(60);
    queue.prefer_preemption = queue.borrow_next && queue.preempt_next && random_.chance(50);
    queue.weight = draw_weight();
    queue.groups = draw_groups(20, queue.cohort >= 0);
  }

  std::vector<GroupDef> draw_groups(int zero_percent, bool limits) {
    std::vector<int> all;
    for (int resource = 0; resource < resources_; ++resource) {
      all.push_back(resource);
    }
    if (counts_pods_) {
      all.push_back(kPods);
    }
    std::vector<int> flavors;
    for (int i = 0; i < static_cast<int>(world_.flavors.size()); ++i) {
      flavors.insert(flavors.begin() + random_.below(i + 1), i);
    }
    std::vector<GroupDef> groups;
    if (all.size() >= 2 && flavors.size() >= 2 && random_.chance(25)) {  // the first resource on its own
      groups.push_back({.resources = {all.front()}});
      all.erase(all.begin());
    }
    groups.push_back({.resources = all});
    for (std::size_t i = 0; i < flavors.size(); ++i) {
      GroupDef& group =
          groups[i < groups.size() ? i : static_cast<std::size_t>(random_.below(static_cast<int>(groups.size())))];
      FlavorQuotas& quotas = group.flavors.emplace_back();
      quotas.flavor = flavors[i];
      for (const int resource : group.resources) {
        quotas.quota[static_cast<std::size_t>(resource)] = draw_quota(resource, zero_percent, limits);
      }
    }
    return groups;
  }

  Quota draw_quota(int resource, int zero_percent, bool limits) {
    const Units unit = resource == kCpu ? kCore : 1;
    Quota quota{.nominal = random_.chance(zero_percent) ? 0 : random_.between(1, tight_ ? 4 : 8) * unit};
    if (limits && random_.chance(25)) {
      quota.borrow = random_.below(4) * unit;
    }
    if (limits && random_.chance(25)) {
      quota.lend = random_.below(4) * unit;
    }
    return quota;
  }

  void draw_workloads() {
    const int count = random_.between(2, 9);
    const int phases = random_.between(1, 4);
    for (int i = 0; i < count; ++i) {
      WorkloadDef& workload = world_.workloads.emplace_back();
      workload.queue = random_.below(static_cast<int>(world_.queues.size()));
      workload.priority = random_.between(-1, 2);
      workload.arrives = random_.below(phases);
      workload.created = random_.below(4) + workload.arrives;
      workload.finishes = random_.chance(15) ? workload.arrives + random_.between(1, 3) : -1;
      const int pod_sets = random_.chance(15) ? 2 : 1;
      for (int p = 0; p < pod_sets; ++p) {
        workload.pod_sets.push_back(draw_pod_set());
      }
    }
  }

  PodSetDef draw_pod_set() {
    PodSetDef pod_set{.count = random_.chance(70) ? 1 : random_.between(2, 3)};
    pod_set.request[kCpu] = random_.chance(10) ? 500 : random_.between(1, 3) * kCore;
    if (random_.chance(resources_ > 1 ? 60 : 2)) {
      pod_set.request[kGpu] = random_.chance(8) ? 0 : random_.between(1, 2);
      if (random_.chance(15)) {
        pod_set.request[kCpu].reset();
      }
    }
    pod_set.pool = random_.chance(25) ? random_.below(2) : -1;
    pod_set.tolerates = random_.chance(40);
    if (kShrinkingWorlds && random_.chance(20)) {
      pod_set.count += random_.below(4);
      pod_set.min_count = random_.between(1, pod_set.count);
    }
    return pod_set;
  }

  void draw_changes() {
    if (!random_.chance(15)) {
      return;
    }
    QuotaChange change{.phase = random_.between(1, 3), .queue = random_.below(static_cast<int>(world_.queues.size()))};
    const QueueDef& queue = world_.queues[static_cast<std::size_t>(change.queue)];
    change.group = random_.below(static_cast<int>(queue.groups.size()));
    const GroupDef& group = queue.groups[static_cast<std::size_t>(change.group)];
    change.flavor = random_.below(static_cast<int>(group.flavors.size()));
    change.resource = group.resources.front();
    change.nominal = random_.below(6) * (change.resource == kCpu ? kCore : 1);
    world_.changes.push_back(change);
  }

  Random random_;
  World world_{};
  int resources_ = 1;
  bool counts_pods_ = false;
  bool tight_ = true;
};

std::string two_digits(int number) {
  return (number < 10 ? "0" : "") + std::to_string(number);
}

}  // namespace

const char* resource_name(int resource) {
  constexpr const char* kNames[] = {"cpu", "example.com/gpu", "pods"};
  return kNames[resource];
}

std::string amount_text(int resource, Units amount) {
  if (resource != kCpu) {
    return std::to_string(amount);
  }
  return amount % kCore == 0 ? std::to_string(amount / kCore) : std::to_string(amount) + "m";
}

std::string flavor_name(int flavor) {
  return "f" + std::to_string(flavor);
}

std::string cohort_name(int cohort) {
  return "h" + std::to_string(cohort);
}

std::string queue_name(int queue) {
  return "q" + std::to_string(queue);
}

std::string workload_name(int workload) {
  return "w" + two_digits(workload);
}

std::string pod_set_name(std::size_t pod_set) {
  return pod_set == 0 ? "main" : "more-" + std::to_string(pod_set);
}

World random_world(std::uint64_t seed) {
  return Generator(seed).run();
}

}  // namespace muster::sim::reference
