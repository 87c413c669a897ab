// One world, played by the core and by the reference side by side, compared after every settle: decisions of each cycle
// in their order, who holds what, reasons and messages of who waits, holds; and what must hold of any world (design.md
// §8): no over-quota, victims none of which could stay, an exact ledger, nobody lost.
#pragma once

#include "sim/reference/driver.h"
#include "sim/reference/world.h"

#include <functional>
#include <string>

namespace muster::sim::reference {

struct Tally {  // what the worlds of a run were made of: a run that preempts nobody proves nothing about preemption
  long cycles = 0;
  long admitted = 0;
  long preempting = 0;
  long victims = 0;
  long skipped = 0;
  long parked = 0;
  long restless = 0;  // worlds that never come to rest
  Tally& operator+=(const Tally& other);
};

struct TrialResult {
  std::string difference{};  // the first one; empty: none
  Tally tally{};
};

// `story`, where it is given, gets a line for everything that happened.
TrialResult run_trial(const World& world, const Profiles& profiles, std::string* story = nullptr);

// The same objects in random orders and with duplicates give the ledger that the orderly run ended with.
std::string check_event_order(const World& world, const Profiles& profiles);

// The smallest world found by leaving things out for which `fails` still says so.
World shrink(World world, const std::function<bool(const World&)>& fails);

}  // namespace muster::sim::reference
