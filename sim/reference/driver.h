// The real core over a world: its objects as events, its effects carried out as an ideal API server would, and what it
// decided as plain values that can be compared. Every write succeeds at once; time moves between settles only.
#pragma once

#include "framework/core.h"
#include "sim/reference/random.h"
#include "sim/reference/world.h"

#include <map>
#include <string>
#include <vector>

namespace muster::sim::reference {

// The default profile with each kind of fair sharing; built once, since that is slower than a world.
class Profiles {
 public:
  Profiles();

  const framework::Profile& of(const World& world) const { return by_kind_.at(world.fair); }

 private:
  std::map<FairSharing, framework::Profile> by_kind_{};
};

class Driver {
 public:
  Driver(const World& world, const framework::Profile& profile);

  // The facts of the cluster and, by their phase, Workloads.
  void start(TimePoint now);
  void arrive(int workload, TimePoint now);
  void leave(int workload, TimePoint now);
  // The quota of a queue changed (the world has it already).
  void change_queue(int queue, TimePoint now);

  framework::Output settle(TimePoint now) { return core_.settle(now); }

  // Carries out the writes. Returns whether there were any.
  bool carry_out(const framework::Output& output, TimePoint now);
  // Whoever is evicted and still holds quota: its job has stopped. Returns them.
  std::vector<int> stop_evicted(TimePoint now);

  const framework::Core& core() const { return core_; }

  const std::map<int, api::Workload>& stored() const { return stored_; }

  // Everything as the API server has it, for another core to read.
  std::vector<framework::Event> all_objects() const;

 private:
  void store(int workload, api::Workload object, TimePoint now);

  const World* world_;
  framework::Core core_;
  std::map<int, api::Workload> stored_{};
  std::uint64_t version_ = 1;
  std::map<int, std::int64_t> queue_generation_{};
};

// Index of a Workload from its name.
int workload_index(const ObjectKey& key);
// Our (flavor, resource) index from the names.
int fr_index(const FlavorName& flavor, const std::string& resource);

// Facts as events, in a fixed order.
std::vector<framework::Event> cluster_objects(const World& world);

}  // namespace muster::sim::reference
