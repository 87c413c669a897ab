// Wire spelling of the API's enumerations, one table each, used by decoders, encoders and validation.
#pragma once

#include "api/core/meta.h"
#include "api/kueue/queues.h"
#include "api/kueue/workload.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace muster::api {

template <class Enum, std::size_t N>
using EnumNames = std::array<std::pair<Enum, std::string_view>, N>;

inline constexpr EnumNames<ConditionStatus, 3> kConditionStatusNames = {
    {{ConditionStatus::kTrue, "True"}, {ConditionStatus::kFalse, "False"}, {ConditionStatus::kUnknown, "Unknown"}}};

inline constexpr EnumNames<QueueingStrategy, 2> kQueueingStrategyNames = {
    {{QueueingStrategy::kStrictFifo, "StrictFIFO"}, {QueueingStrategy::kBestEffortFifo, "BestEffortFIFO"}}};

inline constexpr EnumNames<StopPolicy, 3> kStopPolicyNames = {
    {{StopPolicy::kNone, "None"}, {StopPolicy::kHold, "Hold"}, {StopPolicy::kHoldAndDrain, "HoldAndDrain"}}};

inline constexpr EnumNames<FungibilityPolicy, 2> kFungibilityPolicyNames = {
    {{FungibilityPolicy::kMayStopSearch, "MayStopSearch"}, {FungibilityPolicy::kTryNextFlavor, "TryNextFlavor"}}};

inline constexpr EnumNames<FungibilityPreference, 2> kFungibilityPreferenceNames = {
    {{FungibilityPreference::kBorrowingOverPreemption, "BorrowingOverPreemption"},
     {FungibilityPreference::kPreemptionOverBorrowing, "PreemptionOverBorrowing"}}};

inline constexpr EnumNames<WithinClusterQueuePolicy, 3> kWithinClusterQueueNames = {
    {{WithinClusterQueuePolicy::kNever, "Never"},
     {WithinClusterQueuePolicy::kLowerPriority, "LowerPriority"},
     {WithinClusterQueuePolicy::kLowerOrNewerEqualPriority, "LowerOrNewerEqualPriority"}}};

inline constexpr EnumNames<ReclaimPolicy, 3> kReclaimPolicyNames = {
    {{ReclaimPolicy::kNever, "Never"}, {ReclaimPolicy::kLowerPriority, "LowerPriority"}, {ReclaimPolicy::kAny, "Any"}}};

inline constexpr EnumNames<BorrowWithinCohortPolicy, 2> kBorrowPolicyNames = {
    {{BorrowWithinCohortPolicy::kNever, "Never"}, {BorrowWithinCohortPolicy::kLowerPriority, "LowerPriority"}}};

inline constexpr EnumNames<CheckState, 4> kCheckStateNames = {{{CheckState::kPending, "Pending"},
                                                               {CheckState::kReady, "Ready"},
                                                               {CheckState::kRetry, "Retry"},
                                                               {CheckState::kRejected, "Rejected"}}};

template <class Enum, std::size_t N>
constexpr std::string_view name_of(const EnumNames<Enum, N>& names, Enum value) {
  for (const auto& [candidate, name] : names) {
    if (candidate == value) {
      return name;
    }
  }
  return {};
}

template <class Enum, std::size_t N>
constexpr std::optional<Enum> from_name(const EnumNames<Enum, N>& names, std::string_view name) {
  for (const auto& [value, candidate] : names) {
    if (candidate == name) {
      return value;
    }
  }
  return std::nullopt;
}

// `"A", "B"`, as Kubernetes lists supported values.
template <class Enum, std::size_t N>
std::string names_of(const EnumNames<Enum, N>& names) {
  std::string text;
  for (const auto& entry : names) {
    text += (text.empty() ? "\"" : ", \"") + std::string(entry.second) + "\"";
  }
  return text;
}

}  // namespace muster::api
