// The two clocks of the shells, and a sleep that a stop token ends. Pure parts of client/ take times as arguments and
// never include this for anything but the type MonoTime. Any thread.
#pragma once

#include "base/time.h"

#include <chrono>
#include <stop_token>

namespace muster::client {

// For waiting, deadlines and leases: never jumps.
using MonoTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;

MonoTime mono_now();
// For times written into objects.
TimePoint wall_now();

// False: the stop token ended the sleep.
bool sleep_for(Duration duration, const std::stop_token& stop);

}  // namespace muster::client
