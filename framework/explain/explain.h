// Why does this Workload wait, and what would cure it? Asks the real Filter plugins about every flavor of every podset,
// in transactions that are rolled back: nothing changes. Pure; decision thread (or whoever owns the core at rest).
// Complexity: one Filter run a (podset, flavor), and one pass over the Workloads of the quota tree.
#pragma once

#include "framework/cycle/cycle.h"
#include "framework/explain/explanation.h"
#include "framework/model/model.h"
#include "framework/queue/queue.h"
#include "framework/totals.h"

namespace muster::framework {

struct ExplainOptions {
  std::size_t holders = 5;  // listed a (flavor, resource)
};

// The parts of a core at rest. `model` is speculated on and left as it was.
struct ExplainParts {
  Model& model;
  const Queue& queue;
  const Cycle& cycle;
  const TotalsRules& totals;
  TimePoint now{};
};

Explanation explain(const ExplainParts& core, const ObjectKey& workload, const ExplainOptions& options = {});

// `quota is released or raised in cohort team`.
std::string cure_text(const Wake& wake);

}  // namespace muster::framework
