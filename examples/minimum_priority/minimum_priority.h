// Holds Workloads below a priority back: an out-of-tree plugin, built against the installed CMake package.
// Stateless after construction; safe to call from any one thread at a time.
#pragma once

#include <memory>
#include <string_view>

#include "api/codec/json.h"
#include "framework/points.h"
#include "framework/registry.h"

namespace minimum_priority {

// Refuses to queue Workloads below `minPriority`. What cures it is an edit of the Workload.
class MinimumPriority final : public muster::framework::PreEnqueue {
 public:
  static constexpr std::string_view kName = "MinimumPriority";
  static constexpr std::string_view kReason = "PriorityTooLow";

  static muster::Result<std::unique_ptr<MinimumPriority>> create(const muster::api::Json& args,
                                                                 const muster::framework::PluginDeps& deps);
  muster::framework::Verdict pre_enqueue(const muster::framework::WorkloadInfo& workload,
                                         const muster::framework::Model& model) const override;

 private:
  explicit MinimumPriority(std::int64_t minimum) : minimum_(minimum) {}

  std::int64_t minimum_;
};

}  // namespace minimum_priority
