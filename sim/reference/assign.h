// Flavor assignment of spec/admission.md §3, without topology, slices and podset groups.
#pragma once

#include "sim/reference/preempt.h"
#include "sim/reference/state.h"

#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::sim::reference {

enum class Mode : std::uint8_t { kNoFit, kPreempt, kFit };
// How one flavor would serve, worst to best.
enum class Inner : std::uint8_t { kNoFit, kNoCandidates, kPreempt, kReclaim, kFit };

struct Pick {
  int flavor = 0;
  Inner how = Inner::kNoFit;
  int level = 0;
};

struct PodSetPick {
  int count = 0;
  std::map<int, Pick> flavors{};  // by resource
  std::map<int, Big> requests{};  // of all pods, by resource
  std::vector<std::string> reasons{};
};

struct Assignment {
  Mode mode = Mode::kNoFit;
  int level = 0;
  std::vector<PodSetPick> pod_sets{};
  Usage usage{};
  FrSet need{};          // chosen in a mode that preempts
  Progress progress{};
  std::string reason{};  // of NoFit
  std::string message{};
};

// By podset and resource: the only flavor that may be chosen (§4.6).
using Pins = std::vector<std::map<int, int>>;

struct Question {
  int workload = 0;
  const Pins* pins = nullptr;
  std::optional<Progress> progress{};  // to go on from
  std::vector<int> counts{};           // of each podset; empty: all its pods
};

Assignment assign(const State& state, const QuotaState& quota, const Question& question);
Pins pins_of(const Assignment& assignment);

}  // namespace muster::sim::reference
