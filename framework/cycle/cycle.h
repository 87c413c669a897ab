// The scheduling cycle, the whole story of a decision: heads -> nominate -> order -> process one by one, each in its own
// transaction (spec/admission.md §4). Reads and changes Model and Queue; returns what was decided. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "framework/model/model.h"
#include "framework/profile.h"
#include "framework/queue/queue.h"
#include "framework/trace.h"
#include "framework/workload_info.h"

namespace muster::framework {

// One head's outcome. The core turns it into assumed statuses and effects.
struct Decision {
  std::shared_ptr<const WorkloadInfo> workload{};
  Outcome outcome = Outcome::kParked;
  Assignment assignment{};
  std::vector<Victim> victims{};  // kPreempting
  ParkedReason why{};             // everything but kAdmitted
};

struct CycleResult {
  std::vector<Decision> decisions{};
  Trace trace{};
};

class Cycle {
 public:
  explicit Cycle(const Profile& profile) : profile_(profile) {}

  // One cycle over the heads of the queue; empty when there are none. Admitted workloads leave the queue and are not
  // yet charged in the model: the caller assumes them before the next cycle (the transaction of each entry has been
  // checked against all entries before it).
  CycleResult run(Model& model, Queue& queue, TimePoint now);

 private:
  struct Nominee;
  Nominee nominate(Model& model, const WorkloadInfo& workload, TimePoint now) const;
  Verdict filter(Transaction& tx, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;
  bool passes(Transaction& tx, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;
  Outlook outlook(Model& model, const WorkloadInfo& workload, const FlavorResource& fr, Amount amount, TimePoint now) const;
  std::vector<Victim> find_victims(Model& model, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;
  Verdict process(Transaction& cycle_tx, Model& model, Nominee& nominee, std::vector<ObjectKey>& claimed, TimePoint now) const;

  const Profile& profile_;
  std::uint64_t number_ = 0;
};

}  // namespace muster::framework
