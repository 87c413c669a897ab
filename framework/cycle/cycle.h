// The scheduling cycle, the whole story of a decision: heads -> nominate -> order -> process one by one, each in its own
// transaction (spec/admission.md §4). Reads and changes Model and Queue; returns what was decided. Pure.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
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

// One run of the Filter stage.
struct Attempt {
  std::vector<FlavorExclusion> exclusions{};  // to do without from the start; those that plugins add are appended
  Findings* findings = nullptr;               // see FilterContext
  Assignment assignment{};                    // the outcome
};

class Cycle {
 public:
  explicit Cycle(const Profile& profile) : profile_(profile) {}

  // One cycle over the heads of the queue; no decisions when there are none. Changes neither model nor queue: the
  // caller carries the decisions out, in order, before it asks for the next cycle.
  CycleResult run(Model& model, const Queue& queue, TimePoint now);

  // The Filter stage: flavors and nodes for one Workload, the plugins in order until they agree. Also what `explain`
  // asks. The verdict is stamped with the plugin that decided.
  Verdict filter(Model& model, Transaction& tx, const WorkloadInfo& workload, Attempt& attempt, TimePoint now) const;

 private:
  struct Nominee {
    std::shared_ptr<const WorkloadInfo> workload{};
    Entry entry{};
    Verdict verdict{};  // of the filters: success, or why nothing fits
    bool room_on_its_way = false;  // what others are giving up suffices: nobody has to go
  };

  Nominee nominate(Model& model, const WorkloadInfo& head, TimePoint now) const;
  Decision process(Transaction& cycle, Model& model, Nominee& nominee, std::set<ObjectKey>& claimed, TimePoint now) const;
  bool still_fits(Model& model, Nominee& nominee, const std::set<ObjectKey>& claimed, TimePoint now) const;
  Verdict reserve(Transaction& cycle, const Nominee& nominee) const;

  // The plugin stages, each stamping the plugin that decided.
  bool passes(Model& model, Transaction& tx, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;
  Outlook outlook(Model& model, const WorkloadInfo& workload, const FlavorResource& fr, Amount amount, TimePoint now) const;
  std::vector<Victim> post_filter(Model& model, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;

  const Profile& profile_;
  std::uint64_t number_ = 0;
};

}  // namespace muster::framework
