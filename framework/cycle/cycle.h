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
  // kSkipped and kParked: flavors are left that this attempt did not look at; the next one goes on with them, at once.
  std::shared_ptr<const ScanProgress> progress{};
  // kParked: it needs victims, has none, and may not take back what others borrow of its quota.
  bool guards_quota = false;
};

struct CycleResult {
  std::vector<Decision> decisions{};
  Trace trace{};
};

struct CycleOptions {
  bool keep_progress_when_skipped = true;  // gate FlavorFungibilityPreserveScanProgress
  bool recompute_on_overlap = true;        // gate RecomputeAssignmentUponPreemptionTargetsOverlap
};

// One run of the Filter stage.
struct Attempt {
  std::vector<FlavorExclusion> exclusions{};  // to do without from the start; those that plugins add are appended
  Findings* findings = nullptr;               // see FilterContext
  const Assignment* pinned = nullptr;         // see FilterContext
  Assignment assignment{};                    // the outcome
};

class Cycle {
 public:
  explicit Cycle(const Profile& profile, CycleOptions options = {}) : profile_(profile), options_(options) {}

  // One cycle over the heads of the queue; no decisions when there are none. Changes neither model nor queue: the
  // caller carries the decisions out, in order, before it asks for the next cycle.
  CycleResult run(Model& model, const Queue& queue, TimePoint now);

  // The Filter stage: flavors and nodes for one Workload, the plugins in order until they agree. Also what `explain`
  // asks. The verdict is stamped with the plugin that decided.
  Verdict filter(Model& model, Transaction& tx, const WorkloadInfo& workload, Attempt& attempt, TimePoint now) const;

 private:
  // What the plugins make of a Workload on the model as it is.
  struct Proposal {
    Verdict verdict{};  // of the filters: success, or why nothing fits
    Assignment assignment{};
    std::vector<Victim> victims{};
    bool room_on_its_way = false;  // what others are giving up suffices: nobody has to go

    bool works() const {
      return verdict.ok() && (assignment.mode == FitMode::kFit ||
                              (assignment.mode == FitMode::kPreempt && (room_on_its_way || !victims.empty())));
    }
  };
  struct Nominee {
    std::shared_ptr<const WorkloadInfo> workload{};
    Entry entry{};
    Verdict verdict{};
    bool works = false;
    bool only_guards = false;  // waits at the head of a StrictFIFO queue: nothing is decided for it

    void adopt(Proposal proposal) {
      works = proposal.works();
      verdict = std::move(proposal.verdict);
      entry.assignment = std::move(proposal.assignment);
      entry.victims = std::move(proposal.victims);
    }
  };

  Nominee nominate(Model& model, const Queue& queue, const WorkloadInfo& head, TimePoint now) const;
  Proposal propose(Model& model, const WorkloadInfo& workload, const Assignment* pinned, TimePoint now) const;
  Proposal propose_all(Model& model, const WorkloadInfo& workload, const Assignment* pinned, TimePoint now) const;
  Decision process(Transaction& cycle, Model& model, Nominee& nominee, std::set<ObjectKey>& claimed, TimePoint now) const;
  Proposal recompute(Model& model, const Nominee& nominee, const std::set<ObjectKey>& claimed, TimePoint now) const;
  std::vector<Nominee> guards_beside(const std::vector<Nominee>& nominees, const Model& model, const Queue& queue) const;
  // Whether there is anything it may keep.
  bool protect_quota(Transaction& cycle, const Nominee& nominee) const;
  bool still_fits(Model& model, Nominee& nominee, const std::set<ObjectKey>& claimed, TimePoint now) const;
  Verdict reserve(Transaction& cycle, const Nominee& nominee) const;
  const PostFilter* preemption() const { return profile_.post_filter.empty() ? nullptr : profile_.post_filter[0].plugin; }

  // The plugin stages, each stamping the plugin that decided.
  bool passes(Model& model, Transaction& tx, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;
  Outlook outlook(Model& model, const WorkloadInfo& workload, const FlavorResource& fr, Amount amount, TimePoint now) const;
  std::vector<Victim> post_filter(Model& model, const WorkloadInfo& workload, Assignment& assignment, TimePoint now) const;

  const Profile& profile_;
  CycleOptions options_;
  std::uint64_t number_ = 0;
};

}  // namespace muster::framework
