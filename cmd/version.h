// The version of this program, as it tells users, metrics and recordings.
#pragma once

namespace muster::cmd {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace muster::cmd
