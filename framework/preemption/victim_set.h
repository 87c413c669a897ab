// The victims chosen so far: removed from the model as long as this object lives, at most. In the framework for the
// same reason as candidate.h. `fits` below: would the preemptor be admitted, with the model as it stands? It is taken
// to be monotone: it never turns false because one more Workload has left.
#pragma once

#include "framework/model/model.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace muster::framework {

// C: a Candidate or derived from it; borrowed.
template <class C>
class VictimSet {
 public:
  explicit VictimSet(Transaction& transaction) : transaction_(transaction) {}

  ~VictimSet() { restore(0); }

  VictimSet(const VictimSet&) = delete;
  VictimSet& operator=(const VictimSet&) = delete;

  // In the order of their removal.
  const std::vector<const C*>& all() const { return victims_; }

  void remove(const C& candidate) {
    transaction_.remove_workload(*candidate.key);
    victims_.push_back(&candidate);
  }

  // Puts back all but the first `kept`.
  void restore(std::size_t kept) {
    while (victims_.size() > kept) {
      transaction_.restore_workload(*victims_.back()->key);
      victims_.pop_back();
    }
    ask_at_ = std::min(ask_at_, victims_.size() + 1);
  }

  // After a removal: asking `fits` is what costs when nodes are searched, so it is asked after ever larger steps. A
  // step too far is harmless, fill_back starts with what was removed last; but ask again when nobody is left to remove.
  template <class Fits>
  bool fits_at_this_step(Fits fits) {
    if (victims_.size() < ask_at_) {
      return false;
    }
    ask_at_ = victims_.size() + 1 + victims_.size() / 4;
    return fits();
  }

  // Latest first, each one is put back if the preemptor fits beside it. Whole runs are tried at once, doubled while
  // that works and halved when it does not; as `fits` is monotone, the outcome is that of going one by one.
  template <class Fits>
  void fill_back(Fits fits) {
    std::vector<const C*> needed;  // latest first
    std::size_t run = 1;
    while (!victims_.empty()) {
      const std::size_t begin = victims_.size() - std::min(run, victims_.size());
      const std::vector<const C*> tried(victims_.begin() + static_cast<std::ptrdiff_t>(begin), victims_.end());
      restore(begin);
      if (fits()) {
        run = 2 * tried.size();
        continue;
      }
      for (const C* candidate : tried) {
        remove(*candidate);
      }
      if (tried.size() == 1) {
        needed.push_back(victims_.back());
        victims_.pop_back();
      }
      run = std::max<std::size_t>(1, tried.size() / 2);
    }
    victims_.assign(needed.rbegin(), needed.rend());
  }

 private:
  Transaction& transaction_;
  std::vector<const C*> victims_{};
  std::size_t ask_at_ = 1;
};

}  // namespace muster::framework
