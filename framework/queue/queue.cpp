#include "framework/queue/queue.h"

#include <algorithm>

namespace muster::framework {

namespace {

ObjectKey local_queue_of(const WorkloadInfo& info) { return {info.key.ns, info.object->queue_name.str()}; }

// Edits that may change the answer for this Workload itself (spec/admission.md §1.4, "changed").
bool same_for_scheduling(const WorkloadInfo& a, const WorkloadInfo& b) {
  return a.uid() == b.uid() && a.class_id == b.class_id && a.queue_time == b.queue_time &&
         a.object->meta.generation == b.object->meta.generation && a.object->queue_name == b.object->queue_name &&
         a.queue_place == b.queue_place;
}

// What its LocalQueue has consumed; nothing where that does not count.
Wide place_of(const WorkloadInfo& info) { return info.queue_place == nullptr ? 0 : *info.queue_place; }

}  // namespace

Queue::Lane& Queue::lane(const ClusterQueueName& name) { return lanes_[name]; }

void Queue::set_cluster_queue(const ClusterQueueName& name, api::QueueingStrategy strategy, bool active) {
  Lane& l = lane(name);
  if (l.strategy != strategy || (l.active && !active)) {
    set_block(name, l, std::nullopt);
    l.sticky.reset();
  }
  l.strategy = strategy;
  l.active = active;
  l.known = true;
  settle(name, l);
}

void Queue::place_changed(const ClusterQueueName& name) {
  if (const auto it = lanes_.find(name); it != lanes_.end()) {
    settle(name, it->second);
  }
}

void Queue::remove_cluster_queue(const ClusterQueueName& name) {
  const auto it = lanes_.find(name);
  if (it == lanes_.end()) {
    return;
  }
  it->second.active = false;
  it->second.known = false;
  set_block(name, it->second, std::nullopt);
  drop_if_unused(it);
}

void Queue::drop_if_unused(std::map<ClusterQueueName, Lane>::iterator lane) {
  if (!lane->second.known && lane->second.size == 0) {
    awake_.erase(lane->first);
    lanes_.erase(lane);
  }
}

// ---- membership ----

void Queue::push(WorkloadInfo info) {
  const auto it = members_.find(info.key);
  if (it != members_.end()) {
    if (it->second.info->class_id == info.class_id && it->second.info->cluster_queue == info.cluster_queue) {
      info.progress = it->second.info->progress;
    }
    if (same_for_scheduling(*it->second.info, info) && it->second.info->cluster_queue == info.cluster_queue) {
      *it->second.info = std::move(info);  // same place in every order
      return;
    }
    remove(info.key);
  }
  const ObjectKey key = info.key;
  Member& member = members_[key];
  member.info = std::make_unique<WorkloadInfo>(std::move(info));
  ++per_local_queue_[local_queue_of(*member.info)];
  Lane& l = lane(member.info->cluster_queue);
  ++l.size;
  insert(l, member.info.get());
  settle(member.info->cluster_queue, l);
}

void Queue::remove(const ObjectKey& workload) {
  const auto it = members_.find(workload);
  if (it == members_.end()) {
    return;
  }
  const ClusterQueueName name = it->second.info->cluster_queue;
  Lane& l = lane(name);
  if (l.block && l.block->workload == workload) {
    set_block(name, l, std::nullopt);
  }
  if (l.sticky == workload) {
    l.sticky.reset();
  }
  if (it->second.alone) {
    set_alone(it->second, std::nullopt);
  }
  extract(l, it->second.info.get());
  --l.size;
  const auto count = per_local_queue_.find(local_queue_of(*it->second.info));
  if (--count->second == 0) {
    per_local_queue_.erase(count);
  }
  members_.erase(it);
  settle(name, l);
  drop_if_unused(lanes_.find(name));
}

const WorkloadInfo* Queue::find(const ObjectKey& workload) const {
  const auto it = members_.find(workload);
  return it == members_.end() ? nullptr : it->second.info.get();
}

void Queue::insert(Lane& l, const WorkloadInfo* info) {
  Group& group = l.groups.try_emplace(info->class_id, Before{&sort_}).first->second;
  unready(l, group);
  group.members.insert(info);
  ready(l, group);
  l.in_parked_groups += group.parked ? 1 : 0;
}

void Queue::extract(Lane& l, const WorkloadInfo* info) {
  const auto it = l.groups.find(info->class_id);
  Group& group = it->second;
  unready(l, group);
  group.members.erase(info);
  l.in_parked_groups -= group.parked ? 1 : 0;
  if (!group.members.empty()) {
    ready(l, group);
    return;
  }
  if (group.parked) {
    register_sleeper(*group.parked, Sleeper{.lane = info->cluster_queue, .group = info->class_id}, false);
  }
  l.groups.erase(it);
}

void Queue::unready(Lane& l, const Group& group) {
  if (!group.parked && !group.members.empty()) {
    const auto line = l.ready.find(line_of(**group.members.begin()));
    line->second.erase(*group.members.begin());
    if (line->second.empty()) {
      l.ready.erase(line);
    }
  }
}

void Queue::ready(Lane& l, const Group& group) {
  if (!group.parked && !group.members.empty()) {
    const WorkloadInfo* first = *group.members.begin();
    l.ready.try_emplace(line_of(*first), Before{&sort_}).first->second.insert(first);
  }
}

ObjectKey Queue::line_of(const WorkloadInfo& info) {
  return info.queue_place == nullptr ? ObjectKey{} : local_queue_of(info);
}

// Stickiness comes after the places of the LocalQueues, and before everything else (spec/admission.md §1.2).
bool Queue::goes_first(const Lane& l, const WorkloadInfo& a, const WorkloadInfo& b) const {
  if (place_of(a) != place_of(b)) {
    return place_of(a) < place_of(b);
  }
  const bool sticky = l.sticky == a.key;
  return sticky != (l.sticky == b.key) ? sticky : sort_.less(a, b);
}

// Precondition: the lane has somebody who is ready.
const WorkloadInfo* Queue::head(const Lane& l) const {
  const WorkloadInfo* first = l.sticky && is_ready(l, *l.sticky) ? find(*l.sticky) : nullptr;
  for (const auto& [key, line] : l.ready) {
    if (first == nullptr || goes_first(l, **line.begin(), *first)) {
      first = *line.begin();
    }
  }
  return first;
}

bool Queue::is_overtaken(const Block& block, const WorkloadInfo& head) const {
  return head.key != block.workload && (!block.sticky || place_of(head) < place_of(*find(block.workload)));
}

bool Queue::is_ready(const Lane& l, const ObjectKey& workload) const {
  const auto group = l.groups.find(find(workload)->class_id);
  return l.alone.count(workload) == 0 && group != l.groups.end() && !group->second.parked;
}

// Keeps `awake_` and a block in line with the lane's head.
void Queue::settle(const ClusterQueueName& name, Lane& l) {
  if (l.block && !l.ready.empty() && is_overtaken(*l.block, *head(l))) {
    set_block(name, l, std::nullopt);
  }
  if (l.active && !l.block && !l.ready.empty()) {
    awake_.insert(name);
  } else {
    awake_.erase(name);
  }
}

std::vector<const WorkloadInfo*> Queue::heads() const {
  std::vector<const WorkloadInfo*> out;
  out.reserve(awake_.size());
  for (const ClusterQueueName& name : awake_) {
    out.push_back(head(lanes_.at(name)));
  }
  return out;
}

// ---- parking ----

void Queue::park(const ObjectKey& workload, ParkedReason reason) {
  const WorkloadInfo* info = find(workload);
  if (info == nullptr) {
    return;
  }
  Lane& l = lane(info->cluster_queue);
  if (l.strategy == api::QueueingStrategy::kStrictFifo) {
    set_block(info->cluster_queue, l, Block{.workload = workload, .reason = std::move(reason)});
  } else {
    set_parked(info->cluster_queue, l, info->class_id, std::move(reason));
  }
}

void Queue::park_alone(const ObjectKey& workload, ParkedReason reason) {
  const auto it = members_.find(workload);
  if (it == members_.end()) {
    return;
  }
  const ClusterQueueName& name = it->second.info->cluster_queue;
  if (Lane& l = lane(name); l.block && l.block->workload == workload) {
    set_block(name, l, std::nullopt);  // it no longer stands at the head
  }
  set_alone(it->second, std::move(reason));
}

void Queue::block(const ObjectKey& workload, ParkedReason reason) {
  if (const WorkloadInfo* info = find(workload)) {
    Lane& l = lane(info->cluster_queue);
    const bool sticky = l.strategy == api::QueueingStrategy::kBestEffortFifo;
    if (sticky) {
      l.sticky = workload;
    }
    set_block(info->cluster_queue, l, Block{.workload = workload, .reason = std::move(reason), .sticky = sticky});
  }
}

void Queue::set_block(const ClusterQueueName& name, Lane& l, std::optional<Block> block) {
  if (l.block) {
    register_sleeper(l.block->reason, Sleeper{.lane = name, .workload = l.block->workload}, false);
    unguard(name, *l.block);
  }
  l.block = std::move(block);
  if (l.block) {
    register_sleeper(l.block->reason, Sleeper{.lane = name, .workload = l.block->workload}, true);
    awake_.erase(name);
  } else {
    settle(name, l);
  }
}

void Queue::guard(const ObjectKey& workload, const std::string& tree, Assignment assignment) {
  const WorkloadInfo* info = find(workload);
  Lane* l = info == nullptr ? nullptr : &lane(info->cluster_queue);
  if (l == nullptr || !l->block || l->block->sticky || l->block->workload != workload ||
      !l->block->guarded_tree.empty()) {
    return;
  }
  l->block->guarded_tree = tree;
  l->block->guarded = std::move(assignment);
  guarding_[tree].insert(info->cluster_queue);
}

void Queue::unguard(const ClusterQueueName& name, const Block& block) {
  const auto it = guarding_.find(block.guarded_tree);
  if (it == guarding_.end() || it->second.erase(name) == 0) {
    return;
  }
  unguarded_.insert(block.guarded_tree);
  if (it->second.empty()) {
    guarding_.erase(it);
  }
}

std::vector<Queue::Guard> Queue::guards_in(const std::string& tree) const {
  std::vector<Guard> guards;
  if (const auto it = guarding_.find(tree); it != guarding_.end()) {
    for (const ClusterQueueName& name : it->second) {
      const Lane& l = lanes_.at(name);
      if (l.active) {
        guards.push_back({.workload = find(l.block->workload), .assignment = &l.block->guarded});
      }
    }
  }
  return guards;
}

void Queue::set_parked(const ClusterQueueName& name, Lane& l, ClassId id, std::optional<ParkedReason> reason) {
  Group& group = l.groups.at(id);
  const auto members = static_cast<std::int32_t>(group.members.size());
  unready(l, group);
  if (group.parked) {
    register_sleeper(*group.parked, Sleeper{.lane = name, .group = id}, false);
    l.in_parked_groups -= members;
  }
  group.parked = std::move(reason);
  if (group.parked) {
    register_sleeper(*group.parked, Sleeper{.lane = name, .group = id}, true);
    l.in_parked_groups += members;
  }
  ready(l, group);
  settle(name, l);
}

void Queue::set_alone(Member& member, std::optional<ParkedReason> reason) {
  const WorkloadInfo* info = member.info.get();
  const ClusterQueueName name = info->cluster_queue;
  Lane& l = lane(name);
  const Sleeper sleeper{.lane = name, .workload = info->key};
  if (member.alone) {
    register_sleeper(*member.alone, sleeper, false);
    l.alone.erase(info->key);
    insert(l, info);
  }
  member.alone = std::move(reason);
  if (member.alone) {
    register_sleeper(*member.alone, sleeper, true);
    extract(l, info);
    l.alone.insert(info->key);
  }
  settle(name, l);
}

void Queue::register_sleeper(const ParkedReason& reason, const Sleeper& sleeper, bool asleep) {
  for (const Wake& wake : reason.wakes) {
    if (asleep) {
      sleepers_[wake].insert(sleeper);
      continue;
    }
    const auto it = sleepers_.find(wake);
    if (it != sleepers_.end()) {
      it->second.erase(sleeper);
      if (it->second.empty()) {
        sleepers_.erase(it);
      }
    }
  }
}

void Queue::set_progress(const ObjectKey& workload, std::shared_ptr<const ScanProgress> progress) {
  if (const auto it = members_.find(workload); it != members_.end()) {
    it->second.info->progress = std::move(progress);
  }
}

std::size_t Queue::wake(const Wake& wake) {
  ++epoch_;
  const auto it = sleepers_.find(wake);
  if (it == sleepers_.end()) {
    return 0;
  }
  const std::set<Sleeper> woken = it->second;  // rousing edits the index
  for (const Sleeper& sleeper : woken) {
    rouse(sleeper);
  }
  return woken.size();
}

void Queue::rouse(const Sleeper& sleeper) {
  Lane& l = lane(sleeper.lane);
  if (sleeper.group) {
    set_parked(sleeper.lane, l, *sleeper.group, std::nullopt);
    return;
  }
  if (l.block && l.block->workload == *sleeper.workload) {
    set_block(sleeper.lane, l, std::nullopt);
  }
  const auto it = members_.find(*sleeper.workload);
  if (it != members_.end() && it->second.alone) {
    set_alone(it->second, std::nullopt);
  }
}

// ---- views ----

std::optional<ParkedReason> Queue::reason(const ObjectKey& workload) const {
  const auto it = members_.find(workload);
  if (it == members_.end()) {
    return std::nullopt;
  }
  if (it->second.alone) {
    return it->second.alone;
  }
  const Lane& l = lanes_.at(it->second.info->cluster_queue);
  const Group& group = l.groups.at(it->second.info->class_id);
  if (group.parked) {
    return group.parked;
  }
  if (!l.block) {
    return std::nullopt;
  }
  if (l.block->workload == workload) {
    return l.block->reason;
  }
  return ParkedReason{.reason = "PendingEvaluation",
                      .message = "Waiting behind " + to_string(l.block->workload) + " at the head of ClusterQueue " +
                                 it->second.info->cluster_queue.str(),
                      .wakes = l.block->reason.wakes};
}

std::optional<ObjectKey> Queue::behind(const ObjectKey& workload) const {
  const auto it = members_.find(workload);
  if (it == members_.end() || it->second.alone) {
    return std::nullopt;
  }
  const Lane& l = lanes_.at(it->second.info->cluster_queue);
  const bool parked = l.groups.at(it->second.info->class_id).parked.has_value();
  if (parked || !l.block || l.block->workload == workload) {
    return std::nullopt;
  }
  return l.block->workload;
}

PendingCounts Queue::pending(const ClusterQueueName& queue) const {
  const auto it = lanes_.find(queue);
  if (it == lanes_.end()) {
    return {};
  }
  const Lane& l = it->second;
  const auto parked = static_cast<std::int32_t>(l.alone.size()) + l.in_parked_groups;
  return l.active ? PendingCounts{l.size - parked, parked} : PendingCounts{0, l.size};
}

PendingCounts Queue::pending_in(const ObjectKey& local_queue) const {
  const auto it = per_local_queue_.find(local_queue);
  return {it == per_local_queue_.end() ? 0 : it->second, 0};
}

std::vector<const WorkloadInfo*> Queue::in_order(const ClusterQueueName& queue) const {
  std::vector<const WorkloadInfo*> out;
  const auto it = lanes_.find(queue);
  if (it == lanes_.end()) {
    return out;
  }
  for (const auto& [id, group] : it->second.groups) {
    out.insert(out.end(), group.members.begin(), group.members.end());
  }
  for (const ObjectKey& key : it->second.alone) {
    out.push_back(find(key));
  }
  std::sort(out.begin(), out.end(),
            [&](const auto* a, const auto* b) { return goes_first(it->second, *a, *b); });
  return out;
}

}  // namespace muster::framework
