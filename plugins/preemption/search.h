// Removes candidates from the model until the preemptor fits, then puts back whoever need not go
// (spec/admission.md §5.3). Lives for one decision; its destructor leaves the model as it was.
#pragma once

#include "framework/preemption/victim_set.h"
#include "plugins/preemption/candidates.h"

#include <functional>
#include <vector>

namespace muster::plugins {

class VictimSearch {
 public:
  // `fits`: would the preemptor be admitted, with the model as it stands? Borrows everything for its own lifetime.
  VictimSearch(framework::Transaction& transaction, const framework::Preemptor& preemptor, std::function<bool()> fits)
      : transaction_(transaction), preemptor_(preemptor), fits_(std::move(fits)) {}

  VictimSearch(const VictimSearch&) = delete;
  VictimSearch& operator=(const VictimSearch&) = delete;

  // The victims are removed from the model until this object dies. False: there is no set of victims.
  // O(candidates) removals; `fits` is asked O(log candidates + victims) times.
  bool run();

  // In the order of their removal.
  const std::vector<const Candidate*>& victims() const { return victims_.all(); }

 private:
  enum class Borrowing { kForbidden, kAllowed };

  bool attempt(Borrowing borrowing);
  bool remove_until_fits(Borrowing borrowing);
  bool fits_now(Borrowing borrowing) const;
  bool may_remove(const Candidate& candidate, Borrowing borrowing) const;
  bool has_unused_nominal() const;

  framework::Transaction& transaction_;
  const framework::Preemptor& preemptor_;
  std::function<bool()> fits_;
  Candidates candidates_{};
  framework::VictimSet<Candidate> victims_{transaction_};  // removed now
};

}  // namespace muster::plugins
