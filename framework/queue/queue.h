// What waits, as an index and not a poll. Pending Workloads of a ClusterQueue are grouped into equivalence classes; a
// class that was rejected is parked under the wakes its verdict named and costs nothing until one of them happens.
// Owner: Core. Decision thread only. Deterministic. Complexity: push, remove, park and wake are O(log n) in what they
// touch; an event costs what it wakes.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/kueue/queues.h"
#include "framework/points.h"
#include "framework/reconciler.h"
#include "framework/wake.h"
#include "framework/workload_info.h"

namespace muster::framework {

// Why something is parked; what a waiting Workload of the class shows.
struct ParkedReason {
  std::string plugin{};
  std::string reason{};
  std::string message{};
  std::vector<Wake> wakes{};
  friend bool operator==(const ParkedReason&, const ParkedReason&) = default;
};

class Queue final : public QueueView {
 public:
  struct Guard {  // borrowed until the next change of the queue
    const WorkloadInfo* workload = nullptr;
    const Assignment* assignment = nullptr;
  };

  explicit Queue(const QueueSort& sort) : sort_(sort) {}
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  // The strategy of a ClusterQueue and whether it is active (an inactive one yields no heads). A change wakes it.
  void set_cluster_queue(const ClusterQueueName& name, api::QueueingStrategy strategy, bool active);
  void remove_cluster_queue(const ClusterQueueName& name);

  // A LocalQueue of this ClusterQueue has another place (WorkloadInfo::queue_place). Nothing is sorted anew: only the
  // first of each LocalQueue are compared.
  void place_changed(const ClusterQueueName& name);

  // Adds, or replaces when its content changed. A Workload of a parked class joins it without being tried.
  void push(WorkloadInfo info);
  void remove(const ObjectKey& workload);
  bool contains(const ObjectKey& workload) const { return members_.count(workload) > 0; }
  const WorkloadInfo* find(const ObjectKey& workload) const;

  // The first Workload of every active ClusterQueue that is not parked, in ClusterQueue name order. Borrowed until the
  // next change of the queue.
  std::vector<const WorkloadInfo*> heads() const;

  // BestEffortFIFO parks the whole class; StrictFIFO blocks the ClusterQueue until a wake or a better arrival.
  void park(const ObjectKey& workload, ParkedReason reason);
  // Parks only this Workload (PreEnqueue, back-off): its class and its ClusterQueue go on.
  void park_alone(const ObjectKey& workload, ParkedReason reason);
  // A preemptor that waits for its victims keeps the head of its ClusterQueue until a wake. In BestEffortFIFO a better
  // arrival does not change that, and it stays first until it leaves the queue or another preempts (spec/admission.md §1.7).
  void block(const ObjectKey& workload, ParkedReason reason);

  // Returns how many classes and single Workloads came back.
  std::size_t wake(const Wake& wake);

  // A blocked StrictFIFO head keeps its own free quota from those after it, in every cycle, as if it were tried in each
  // (spec/admission.md §4.5, step 5). Ends with the block. `tree`: the wake key of its quota.
  void guard(const ObjectKey& workload, const std::string& tree, Assignment assignment);
  std::vector<Guard> guards_in(const std::string& tree) const;
  // Trees in which a guard has ended since the last call: whoever it kept out has to be woken.
  std::set<std::string> take_unguarded() { return std::exchange(unguarded_, {}); }

  // What the Workload's last attempt left to look at. It goes with the Workload, its class, its ClusterQueue, and with
  // the next wake (whoever it is for): `epoch` counts those.
  void set_progress(const ObjectKey& workload, std::shared_ptr<const ScanProgress> progress);
  std::uint64_t epoch() const { return epoch_; }

  // The current reason of a waiting Workload; none when it is about to be tried.
  std::optional<ParkedReason> reason(const ObjectKey& workload) const;
  // Whom the Workload waits behind: the head of a StrictFIFO ClusterQueue, or a preemptor whose victims are leaving.
  std::optional<ObjectKey> behind(const ObjectKey& workload) const;
  PendingCounts pending(const ClusterQueueName& queue) const override;
  PendingCounts pending_in(const ObjectKey& local_queue) const override;
  // Pending Workloads of a ClusterQueue in queue order.
  std::vector<const WorkloadInfo*> in_order(const ClusterQueueName& queue) const;
  std::size_t size() const { return members_.size(); }

 private:
  struct Before {
    const QueueSort* sort = nullptr;
    bool operator()(const WorkloadInfo* a, const WorkloadInfo* b) const { return sort->less(*a, *b); }
  };
  using Ordered = std::set<const WorkloadInfo*, Before>;

  struct Group {  // an equivalence class within a ClusterQueue
    explicit Group(Before before) : members(before) {}
    Ordered members;
    std::optional<ParkedReason> parked{};
  };
  struct Block {
    ObjectKey workload{};
    ParkedReason reason{};
    bool sticky = false;  // a better arrival does not lift it
    std::string guarded_tree{};  // empty: it guards nothing
    Assignment guarded{};
  };
  struct Lane {  // a ClusterQueue
    api::QueueingStrategy strategy = api::QueueingStrategy::kBestEffortFifo;
    bool active = false;
    bool known = false;  // has a ClusterQueue; without one it lasts as long as its members
    std::map<ClassId, Group> groups{};
    // The first member of every group that is not parked: one line for each LocalQueue that has a place, one for all
    // others. Within a line no place is compared, so that a set's order never depends on what changes.
    std::map<ObjectKey, Ordered> ready{};
    std::optional<Block> block{};
    std::optional<ObjectKey> sticky{};  // BestEffortFIFO: who preempted last, while it waits here
    std::set<ObjectKey> alone{};
    std::int32_t size = 0;
    std::int32_t in_parked_groups = 0;
  };
  struct Member {
    std::unique_ptr<WorkloadInfo> info{};
    std::optional<ParkedReason> alone{};
  };
  struct Sleeper {  // what a wake brings back: a class of a lane, a blocked lane, or one Workload
    ClusterQueueName lane{};
    std::optional<ClassId> group{};
    std::optional<ObjectKey> workload{};
    friend auto operator<=>(const Sleeper&, const Sleeper&) = default;
  };

  Lane& lane(const ClusterQueueName& name);
  const WorkloadInfo* head(const Lane& lane) const;
  void insert(Lane& lane, const WorkloadInfo* info);
  void extract(Lane& lane, const WorkloadInfo* info);
  void unready(Lane& lane, const Group& group);
  void ready(Lane& lane, const Group& group);
  static ObjectKey line_of(const WorkloadInfo& info);
  bool goes_first(const Lane& lane, const WorkloadInfo& a, const WorkloadInfo& b) const;
  bool is_overtaken(const Block& block, const WorkloadInfo& head) const;
  bool is_ready(const Lane& lane, const ObjectKey& workload) const;
  void settle(const ClusterQueueName& name, Lane& lane);
  void drop_if_unused(std::map<ClusterQueueName, Lane>::iterator lane);
  void set_block(const ClusterQueueName& name, Lane& lane, std::optional<Block> block);
  void unguard(const ClusterQueueName& name, const Block& block);
  void set_parked(const ClusterQueueName& name, Lane& lane, ClassId id, std::optional<ParkedReason> reason);
  void set_alone(Member& member, std::optional<ParkedReason> reason);
  void register_sleeper(const ParkedReason& reason, const Sleeper& sleeper, bool asleep);
  void rouse(const Sleeper& sleeper);

  const QueueSort& sort_;
  std::map<ClusterQueueName, Lane> lanes_{};
  std::set<ClusterQueueName> awake_{};  // lanes that have a head
  std::map<ObjectKey, Member> members_{};
  std::map<ObjectKey, std::int32_t> per_local_queue_{};
  std::map<Wake, std::set<Sleeper>> sleepers_{};
  std::map<std::string, std::set<ClusterQueueName>> guarding_{};  // tree -> lanes whose block guards quota of it
  std::set<std::string> unguarded_{};
  std::uint64_t epoch_ = 0;
};

}  // namespace muster::framework
