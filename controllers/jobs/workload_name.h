// The name of a job's Workload (spec/workloads.md §1.9): equal to Kueue's, so that Workloads it made are found again.
#pragma once

#include "base/ids.h"

#include <string>
#include <string_view>

namespace muster::controllers {

struct JobIdentity {
  std::string_view kind{};
  std::string_view group{};
  std::string_view name{};
  Uid uid{};
  std::string extra{};  // generation of elastic jobs
};

inline constexpr std::size_t kMaxWorkloadName = 253;
inline constexpr std::size_t kShortWorkloadName = 63;

std::string workload_name(const JobIdentity& job, std::size_t max_length = kMaxWorkloadName);
// What the names of all Workloads of jobs of this name begin with, whatever the job's uid.
std::string workload_name_prefix(std::string_view kind, std::string_view name,
                                 std::size_t max_length = kMaxWorkloadName);

}  // namespace muster::controllers
