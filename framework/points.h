// The extension points. One class a point, pure virtual, const, no common base: a plugin implements those it needs and
// is registered once (framework/registry.h). Contracts follow kube-scheduler's where a Workload and a Pod can share
// them (spec/placement.md §1.2); docs/decisions/0005-extension-points.md lists the differences.
//
// Plugins are stateless after construction and called from one thread at a time. They get time and objects with the
// call, do no I/O, and return what they want done. Iteration order of everything they are given is fixed.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "api/core/node.h"
#include "framework/effects.h"
#include "framework/findings.h"
#include "framework/model/model.h"
#include "framework/verdict.h"
#include "framework/workload_info.h"

namespace muster::framework {

// May this Workload be queued? Any verdict but success parks it; the verdict's wakes (or, without any, a change of the
// Workload itself) bring it back.
class PreEnqueue {
 public:
  virtual ~PreEnqueue() = default;
  virtual Verdict pre_enqueue(const WorkloadInfo& workload, const Model& model) const = 0;
};

// A nominated Workload, as the cycle orders it.
struct Entry {
  const WorkloadInfo* workload = nullptr;
  Assignment assignment{};
  std::vector<Victim> victims{};
};

// Who goes next among the heads of one cycle, asked again after each of them. Made for one cycle; may keep state.
class EntryOrder {
 public:
  virtual ~EntryOrder() = default;
  // The index of one of the entries it was made for, each once. `model` has the usage of those before it. An entry that
  // was named is processed: it must not be looked at any more.
  virtual std::size_t next(const Model& model) = 0;
};

// Exactly one is enabled. Both comparisons must be strict weak orders, total up to identical uid.
class QueueSort {
 public:
  virtual ~QueueSort() = default;
  // Who is tried first within a ClusterQueue.
  virtual bool less(const WorkloadInfo& a, const WorkloadInfo& b) const = 0;
  // Who goes first among the heads of one cycle, where that can be said of two of them alone.
  virtual bool entry_less(const Entry& a, const Entry& b) const { return less(*a.workload, *b.workload); }
  // For orders that depend on what those before have taken. Default: sorted once, by entry_less. Borrows the entries.
  virtual std::unique_ptr<EntryOrder> entry_order(std::vector<const Entry*> entries, const Model& model) const;
};

// What a preemption oracle says of one (flavor, resource) at an amount (spec/admission.md §3.6).
enum class PreemptionOutlook : std::uint8_t { kNoCandidates, kPreempt, kReclaim };
struct Outlook {
  PreemptionOutlook outlook = PreemptionOutlook::kNoCandidates;
  int borrow_level = 0;
};

// The pods of one podset, as node plugins see them. `flavor_labels` and `flavor_tolerations` come from the flavors
// assigned to the podset and are injected into its pods when the job starts.
struct PodShape {
  const api::PodTemplate* pod_template = nullptr;
  PodFootprint footprint{};
  api::StringMap flavor_labels{};
  std::vector<api::Toleration> flavor_tolerations{};
};

struct NodeInfo {
  NodeId id = 0;
  const api::Node* node = nullptr;
  const NodeTable* table = nullptr;
};

// May a pod of this shape run on the node now? Texts are kube-scheduler's, byte for byte.
class NodeFilter {
 public:
  virtual ~NodeFilter() = default;
  // What can be said of the shape alone; a rejection rules out every node.
  virtual Verdict pre_filter(const PodShape& /*shape*/) const { return {}; }
  // Everything about the node but what is used on it: answered once a (shape, node object).
  virtual Verdict filter_static(const PodShape& /*shape*/, const NodeInfo& /*node*/) const { return {}; }
  // How many more pods of this shape the node takes now; at most `wanted`. 0 comes with a verdict that says why.
  virtual std::pair<Amount, Verdict> capacity(const PodShape& /*shape*/, const NodeInfo& /*node*/, Amount wanted) const {
    return {wanted, Verdict{}};
  }
};

// How raw scores become 0..100 (spec/placement.md §2, DefaultNormalize): as they are, or 100·s/highest over the nodes
// that are judged, or 100 minus that.
enum class Normalisation : std::uint8_t { kNone, kByHighest, kByHighestReversed };

// 0..100 once normalised; weighted by the profile and summed. Ties: lowest node name.
class NodeScore {
 public:
  virtual ~NodeScore() = default;
  // Anything but kNone also says: the score depends on shape and node object only, not on what is used.
  virtual Normalisation normalisation() const { return Normalisation::kNone; }
  // Where the profile does not name the plugin.
  virtual std::int64_t default_weight() const { return 1; }
  virtual std::int64_t score(const PodShape& shape, const NodeInfo& node) const = 0;
};

// The enabled node plugins of the profile, in order: what a placing plugin runs. Borrowed from the host.
struct NodePlugins {
  struct FilterEntry {
    std::string name{};
    const NodeFilter* plugin = nullptr;
  };
  struct ScoreEntry {
    std::string name{};
    const NodeScore* plugin = nullptr;
    std::int64_t weight = 1;
  };
  std::vector<FilterEntry> filters{};
  std::vector<ScoreEntry> scores{};
};

class PostFilter;

// What a Filter plugin may ask and change while it judges.
struct FilterContext {
  const WorkloadInfo& workload;
  Transaction& transaction;  // speculative changes of this attempt
  const NodePlugins& node_plugins;
  std::span<const FlavorExclusion> exclusions;
  // Asks the enabled PostFilter plugin; kNoCandidates without one.
  std::function<Outlook(const FlavorResource&, Amount)> outlook;
  TimePoint now{};
  // An attempt is repeated because of what others took meanwhile: the flavors chosen before are not given up.
  const Assignment* pinned = nullptr;
  const PostFilter* preemption = nullptr;  // the first that is enabled
  // Not null: `muster explain` asks. Note what was found, of every flavor; the verdict must be the same.
  Findings* findings = nullptr;

  const Model& model() const { return transaction.model(); }
};

// Builds and judges the assignment. Plugins run in order on one Assignment; the flavor assigner fills it, later ones
// refine it (gang: the node plan). A later plugin that cannot live with a chosen flavor adds a FlavorExclusion to
// `rejected` and returns kUnschedulable: the host starts over with that flavor excluded, until the plugins agree or
// nothing is left. `assignment.mode` says what came out.
class Filter {
 public:
  virtual ~Filter() = default;
  virtual Verdict filter(FilterContext& context, Assignment& assignment, std::vector<FlavorExclusion>& rejected) const = 0;
  // Would the chosen assignment pass as it stands, with the model as the transaction has it now? Preemption asks this
  // while it removes and restores victims. `assignment.plan` is updated on success.
  virtual bool passes(FilterContext& context, Assignment& assignment) const = 0;
};

struct PostFilterContext {
  const WorkloadInfo& workload;
  Transaction& transaction;
  // All Filter plugins' `passes`; `assignment` gets its plan.
  std::function<bool(Assignment&)> passes;
  TimePoint now{};

  const Model& model() const { return transaction.model(); }
};

// Finds who must go so that the assignment passes. An empty result means: nobody's leaving helps. Everything it does to
// the model is undone by the host, which removes the victims again for the final check.
class PostFilter {
 public:
  virtual ~PostFilter() = default;
  virtual std::vector<Victim> post_filter(PostFilterContext& context, Assignment& assignment) const = 0;
  virtual Outlook outlook(PostFilterContext& context, const FlavorResource& fr, Amount amount) const = 0;
  // May a Workload of this ClusterQueue evict others although it will borrow? If not, `outlook` is not asked for what
  // goes beyond the quota of its own.
  virtual bool may_preempt_while_borrowing(const api::ClusterQueue& queue) const {
    return queue.preemption.borrow_within_cohort != api::BorrowWithinCohortPolicy::kNever;
  }
};

// Called when an assignment is about to be charged, and when a charge is dropped before admission. Unreserve must be
// idempotent and may be called although Reserve never ran.
class Reserve {
 public:
  virtual ~Reserve() = default;
  virtual Verdict reserve(const WorkloadInfo& workload, const Assignment& assignment, Transaction& transaction) const = 0;
  virtual void unreserve(const WorkloadInfo& workload, const Assignment& assignment, Transaction& transaction) const = 0;
};

// kAdmission: quota is reserved, may the job start (admission checks)? kPods: the job has started, may its pods be bound
// (all of them are there)? kWait holds; a rejection in kPods evicts the Workload whole.
enum class PermitPhase : std::uint8_t { kAdmission, kPods };

class Permit {
 public:
  virtual ~Permit() = default;
  virtual Verdict permit(const WorkloadState& workload, const Model& model, PermitPhase phase, TimePoint now) const = 0;
};

struct BindContext {
  const ObjectKey& key;
  const WorkloadState& workload;
  Transaction& transaction;  // for trying: always rolled back; what stays is `new_plan` and `effects`
  const NodePlugins& node_plugins;
  TimePoint now{};
  std::vector<EffectBody> effects{};
  std::optional<PlacementPlan> new_plan{};  // a repaired plan replaces the Workload's

  const Model& model() const { return transaction.model(); }
};

// Asks for the pods of an admitted Workload to be bound. Also called when an admitted Workload has no plan yet (after a
// restart): then the host takes `new_plan` at once and the effects only when Permit agrees. kSkip passes it to the next plugin; kSuccess ends the list;
// kUnschedulable evicts the Workload whole (a gang that cannot be completed or repaired), with reason and message.
class Bind {
 public:
  virtual ~Bind() = default;
  virtual Verdict bind(BindContext& context) const = 0;
};

// Informational, after all pods of a Workload are bound.
class PostBind {
 public:
  virtual ~PostBind() = default;
  virtual void post_bind(const ObjectKey& workload, const Model& model) const = 0;
};

}  // namespace muster::framework
