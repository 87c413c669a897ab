// A small random world as plain numbers: what the reference reads, and what the driver turns into API objects. Nothing
// here is shared with the code under test. Names are made from the indexes: flavor f0, cohort h0, ClusterQueue q0 with
// its one LocalQueue, Workload w00 (whose uid is its name).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim::reference {

using Units = std::int64_t;  // milli for cpu, whole for the others

inline constexpr int kMaxFlavors = 4;

enum Resource : int { kCpu, kGpu, kPods, kResources };  // in name order

const char* resource_name(int resource);
std::string amount_text(int resource, Units amount);
std::string flavor_name(int flavor);
std::string cohort_name(int cohort);
std::string queue_name(int queue);
std::string workload_name(int workload);
std::string pod_set_name(std::size_t pod_set);  // `main`, then `more-1` …

struct Quota {
  Units nominal = 0;
  std::optional<Units> borrow{};
  std::optional<Units> lend{};
};

struct FlavorDef {
  int pool = -1;  // value of the node label `pool`; -1: no label
  bool tainted = false;
  bool exists = true;
};

struct FlavorQuotas {
  int flavor = 0;
  std::array<Quota, kResources> quota{};
};

struct GroupDef {
  std::vector<int> resources{};  // covered, in name order
  std::vector<FlavorQuotas> flavors{};
};

struct CohortDef {
  int parent = -1;
  bool object = true;  // false: only named, no quota, weight 1
  Units weight = 1000;  // of fair sharing, in thousandths
  std::vector<GroupDef> groups{};
};

enum class Within : std::uint8_t { kNever, kLower, kLowerOrNewer };
enum class Reclaim : std::uint8_t { kNever, kLower, kAny };

struct QueueDef {
  int cohort = -1;
  bool strict = false;
  Within within = Within::kNever;
  Reclaim reclaim = Reclaim::kNever;
  bool borrow_while_preempting = false;  // borrowWithinCohort: LowerPriority
  std::optional<int> threshold{};        // its maxPriorityThreshold
  bool borrow_next = false;              // whenCanBorrow: TryNextFlavor
  bool preempt_next = true;              // whenCanPreempt: TryNextFlavor
  bool prefer_preemption = false;        // preference: PreemptionOverBorrowing
  Units weight = 1000;                   // of fair sharing, in thousandths
  std::vector<GroupDef> groups{};
};

struct PodSetDef {
  int count = 1;
  int min_count = 0;  // as few are enough (§3.8); 0: all are needed
  std::array<std::optional<Units>, kResources> request{};  // of one pod; pods is never requested
  int pool = -1;                                           // node selector
  bool tolerates = false;

  int spare() const { return min_count > 0 ? count - min_count : 0; }

  friend bool operator==(const PodSetDef&, const PodSetDef&) = default;
};

struct WorkloadDef {
  int queue = 0;
  int priority = 0;
  int created = 0;    // seconds
  int arrives = 0;    // phase
  int finishes = -1;  // phase in which it ends, if it holds quota then
  std::vector<PodSetDef> pod_sets{};
};

// The nominal quota of a queue's flavor changes.
struct QuotaChange {
  int phase = 0;
  int queue = 0;
  int group = 0;
  int flavor = 0;  // index within the group
  int resource = 0;
  Units nominal = 0;
};

// Is it on, and which preemptionStrategies are configured?
enum class FairSharing : std::uint8_t { kOff, kBoth, kFinalShare, kInitialShare };

struct World {
  std::uint64_t seed = 0;
  FairSharing fair = FairSharing::kOff;
  std::vector<FlavorDef> flavors{};
  std::vector<CohortDef> cohorts{};
  std::vector<QueueDef> queues{};
  std::vector<WorkloadDef> workloads{};
  std::vector<QuotaChange> changes{};
};

World random_world(std::uint64_t seed);

// As `muster simulate -f` reads it; what a batch Job cannot say (a second podset) is a comment.
std::string to_yaml(const World& world);

}  // namespace muster::sim::reference
