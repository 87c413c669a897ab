// What is to be looked at again, and when: by key and by time. Decision thread only. O(log n) a change; finding what is
// due costs what is due.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "base/time.h"

namespace muster::framework {

template <class Key>
class Timers {
 public:
  // An earlier time wins over what was set before.
  void at(const Key& key, TimePoint when) {
    const auto [it, inserted] = when_.emplace(key, when);
    if (!inserted) {
      if (it->second <= when) {
        return;
      }
      order_.erase({it->second, key});
      it->second = when;
    }
    order_.insert({when, key});
  }

  // Takes out what is due, in order of time.
  std::vector<Key> take_due(TimePoint now) {
    std::vector<Key> due;
    while (!order_.empty() && order_.begin()->first <= now) {
      due.push_back(order_.begin()->second);
      when_.erase(order_.begin()->second);
      order_.erase(order_.begin());
    }
    return due;
  }

  std::optional<TimePoint> earliest() const {
    return order_.empty() ? std::nullopt : std::optional<TimePoint>(order_.begin()->first);
  }
  bool contains(const Key& key) const { return when_.count(key) > 0; }
  void erase(const Key& key) {
    if (const auto it = when_.find(key); it != when_.end()) {
      order_.erase({it->second, key});
      when_.erase(it);
    }
  }
  std::size_t size() const { return when_.size(); }

 private:
  std::map<Key, TimePoint> when_{};
  std::set<std::pair<TimePoint, Key>> order_{};
};

}  // namespace muster::framework
