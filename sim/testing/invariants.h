// What must hold after every step of every simulation, whatever went wrong in it (docs/design: the invariants), read
// from the API server's objects and the core's ledger. Not linked into the product.
#pragma once

#include "sim/simulator.h"

#include <map>
#include <string>
#include <vector>

namespace muster::sim::testing {

// Violations as text; empty when all hold.
//  - no ClusterQueue has more reserved, by Workloads that run or may run, than its nominal quota and borrowing limit,
//    no tree of cohorts more than its members have;
//  - no node has more bound to it than it offers;
//  - the manager's ledger equals what its objects say.
std::vector<std::string> violations(const Simulator& simulator);

// Jobs whose pods sit on nodes, and how many each (pods that are over are not counted).
std::map<ObjectKey, int> bound_pods(const Simulator& simulator);

}  // namespace muster::sim::testing
