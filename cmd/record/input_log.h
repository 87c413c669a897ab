// The lines of a recording (docs/replay.md): one JSON object a line, each one input of the core, or what a settle gave.
// Pure text; the file is the business of recorder.h and replay.h.
#pragma once

#include "cmd/core_setup.h"
#include "framework/core.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::cmd {

// A process began: a new core of this setup. The first line, and one for every restart that appended to the file.
struct Started {
  std::string version{};  // of the program
  CoreSetup setup{};
};

// core.apply(now, event)
struct Applied {
  TimePoint now{};
  framework::Event event{};
};

// core.settle(now), and what it answered.
struct Settled {
  TimePoint now{};
  std::uint64_t cycle = 0;             // the last one that ran, in it or before it
  std::vector<std::string> effects{};  // framework::describe of each
  std::uint64_t hash = 0;              // of the effects in full
};

using LogLine = std::variant<Started, Applied, Settled>;

// Without the newline.
std::string format_line(const LogLine& line);
Result<LogLine> parse_line(std::string_view text);

Settled settled(TimePoint now, std::uint64_t cycle, const framework::Effects& effects);
// `before`: the last cycle so far; a settle without cycles keeps it.
std::uint64_t last_cycle(std::uint64_t before, const framework::Trace& trace);

}  // namespace muster::cmd
