// Effects that wait to be written: a lane an object, so that its writes never overlap and keep their order, and within
// a lane at most one unsent effect a slot (framework::merge_key): a newer one replaces the older and moves to the end.
// Pure; the executor guards it with its mutex.
#pragma once

#include "framework/effects.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::client {

struct PendingWrite {
  framework::ObjectRef target{};
  framework::Effect effect{};
  // This effect and those it has replaced, oldest first: its result is theirs as well.
  std::vector<framework::EffectId> ids{};
};

class WriteQueue {
 public:
  void add(framework::Effect effect);

  // The next write whose object has none under way, first come first served. Its lane is busy until finish().
  std::optional<PendingWrite> take();
  void finish(const framework::ObjectRef& target);

  bool ready() const { return !ready_.empty(); }

  std::size_t waiting() const { return waiting_; }

  std::size_t busy() const { return lanes_.size() - idle_lanes(); }

  bool empty() const { return lanes_.empty(); }

  std::uint64_t replaced() const { return replaced_; }

 private:
  struct Slot {
    std::string merge_key{};
    PendingWrite write{};
  };

  struct Lane {
    bool busy = false;
    std::vector<Slot> slots{};
  };

  std::size_t idle_lanes() const { return ready_.size(); }

  std::map<framework::ObjectRef, Lane> lanes_{};  // busy, or with something waiting
  std::deque<framework::ObjectRef> ready_{};      // lanes that are not busy
  std::size_t waiting_ = 0;
  std::uint64_t replaced_ = 0;
};

}  // namespace muster::client
