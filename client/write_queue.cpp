#include "client/write_queue.h"

#include <algorithm>
#include <utility>

namespace muster::client {

void WriteQueue::add(framework::Effect effect) {
  const framework::ObjectRef target = framework::target(effect);
  Slot slot{.merge_key = framework::merge_key(effect), .write = {.target = target}};
  const auto [entry, fresh] = lanes_.try_emplace(target);
  Lane& lane = entry->second;
  if (fresh) {
    ready_.push_back(target);
  }
  const auto older = std::find_if(lane.slots.begin(), lane.slots.end(), [&](const Slot& other) {
    return !slot.merge_key.empty() && other.merge_key == slot.merge_key;
  });
  if (older != lane.slots.end()) {
    slot.write.ids = std::move(older->write.ids);
    lane.slots.erase(older);
    replaced_ += 1;
    waiting_ -= 1;
  }
  slot.write.ids.push_back(effect.id);
  slot.write.effect = std::move(effect);
  lane.slots.push_back(std::move(slot));
  waiting_ += 1;
}

std::optional<PendingWrite> WriteQueue::take() {
  if (ready_.empty()) {
    return std::nullopt;
  }
  Lane& lane = lanes_.at(ready_.front());
  ready_.pop_front();
  lane.busy = true;
  PendingWrite write = std::move(lane.slots.front().write);
  lane.slots.erase(lane.slots.begin());
  waiting_ -= 1;
  return write;
}

void WriteQueue::finish(const framework::ObjectRef& target) {
  const auto entry = lanes_.find(target);
  MUSTER_CHECK(entry != lanes_.end() && entry->second.busy) << "no write of " << to_string(target.key) << " under way";
  entry->second.busy = false;
  if (entry->second.slots.empty()) {
    lanes_.erase(entry);
  } else {
    ready_.push_back(target);
  }
}

}  // namespace muster::client
