#include "minimum_priority.h"

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace minimum_priority {

using muster::framework::Verdict;

muster::Result<std::unique_ptr<MinimumPriority>> MinimumPriority::create(const muster::api::Json& args,
                                                                         const muster::framework::PluginDeps& /*deps*/) {
  std::int64_t minimum = 0;
  for (const auto& [key, value] : args.items()) {
    if (key != "minPriority") {
      return muster::invalid("unknown field", key);
    }
    if (!value.is_number_integer() || value < std::numeric_limits<std::int32_t>::min() ||
        value > std::numeric_limits<std::int32_t>::max()) {
      return muster::invalid("must be an integer of 32 bits", key);
    }
    minimum = value.get<std::int64_t>();
  }
  return std::unique_ptr<MinimumPriority>(new MinimumPriority(minimum));
}

Verdict MinimumPriority::pre_enqueue(const muster::framework::WorkloadInfo& workload,
                                     const muster::framework::Model& /*model*/) const {
  if (workload.priority >= minimum_) {
    return Verdict::success();
  }
  return Verdict::unresolvable(std::string(kReason), "priority " + std::to_string(workload.priority) +
                                                         " is below the minimum of " + std::to_string(minimum_));
}

}  // namespace minimum_priority
