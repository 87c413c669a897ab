// Virtual time: actions ordered by when they are due, then by when they were planned. Nothing here sleeps.
// Owner: the simulator. Single thread. Deterministic.
#pragma once

#include "base/time.h"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace muster::sim {

class Timeline {
 public:
  using Action = std::function<void()>;

  explicit Timeline(TimePoint start) : now_(start) {}

  TimePoint now() const { return now_; }

  // A time that has passed means: as soon as possible, after what is due already.
  void at(TimePoint when, Action action) {
    actions_.emplace(std::pair(std::max(when, now_), planned_++), std::move(action));
  }

  void after(Duration wait, Action action) { at(now_ + wait, std::move(action)); }

  // When the next action is due; nothing is planned: absent.
  std::optional<TimePoint> next() const {
    return actions_.empty() ? std::nullopt : std::optional(actions_.begin()->first.first);
  }

  // Moves on to the next action and runs it. Precondition: there is one.
  void step() {
    const auto first = actions_.extract(actions_.begin());
    now_ = first.key().first;
    first.mapped()();
  }

  void skip_to(TimePoint when) { now_ = std::max(now_, when); }

 private:
  TimePoint now_;
  std::uint64_t planned_ = 0;
  std::map<std::pair<TimePoint, std::uint64_t>, Action> actions_{};
};

}  // namespace muster::sim
