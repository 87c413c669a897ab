// Time as values. Nothing in Muster's core reads a clock: `now` is an argument everywhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace muster {

using Duration = std::chrono::milliseconds;
using TimePoint = std::chrono::sys_time<Duration>;

// Seconds precision, as metav1.Time: `2026-12-01T08:00:00Z`.
std::string format_rfc3339(TimePoint time);
// Microsecond digits, as metav1.MicroTime: `2026-12-01T08:00:00.000000Z`.
std::string format_rfc3339_micro(TimePoint time);
// Accepts fractions and offsets; kInvalid otherwise.
Result<TimePoint> parse_rfc3339(std::string_view text);

// Go's duration syntax: `1h30m`, `5s`, `100ms`, `0`. What is finer than a millisecond is rounded away from zero, so that
// a tiny timeout never turns into `0` (which switches most things off).
Result<Duration> parse_duration(std::string_view text);
std::string format_duration(Duration duration);

// Truncated to whole seconds, the precision of a condition's time.
inline TimePoint to_seconds(TimePoint time) { return std::chrono::floor<std::chrono::seconds>(time); }

}  // namespace muster
