// What the user named on the command line, and the Workload it means. Pure.
#pragma once

#include "framework/model/model.h"

#include <string>
#include <string_view>

namespace muster::cmd {

enum class TargetKind : std::uint8_t { kAny, kWorkload, kJob, kPod };

struct Target {
  TargetKind kind = TargetKind::kAny;
  ObjectKey key{};
  friend bool operator==(const Target&, const Target&) = default;
};

// `NAME`, `workload/NAME`, `job/NAME`, `pod/NAME`, with kubectl's plurals, short and group names.
Result<Target> parse_target(std::string_view text, const std::string& ns);

// kNotFound says what there is none of, and why a job may have none.
Result<ObjectKey> find_workload(const framework::Model& model, const Target& target);

}  // namespace muster::cmd
