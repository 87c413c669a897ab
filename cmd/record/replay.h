// Runs a recording again: the same inputs into a new core must give the same effects. Reads a stream, prints nothing.
#pragma once

#include "cmd/record/input_log.h"
#include "framework/core.h"

#include <cstdint>
#include <istream>
#include <memory>
#include <optional>
#include <string>

namespace muster::cmd {

struct ReplayOptions {
  std::optional<std::uint64_t> until{};       // stop after the settle that ran this cycle (of the last process)
  std::optional<std::uint64_t> show_cycle{};  // keep the trace of this cycle (of the last process)
};

// The first effect that is not the same.
struct Difference {
  std::uint64_t line = 0;     // of the file, from 1
  std::uint64_t process = 0;  // from 1
  std::uint64_t cycle = 0;    // the last one of the settle, or before it
  std::size_t effect = 0;     // index within the settle
  std::string recorded{};     // empty: nothing
  std::string replayed{};
};

struct Replayed {
  std::uint64_t processes = 0;
  std::uint64_t events = 0;
  std::uint64_t settles = 0;
  std::uint64_t effects = 0;
  std::uint64_t cycles = 0;  // of the last process
  bool cut_off = false;      // the last line is incomplete: the writer was killed
  std::optional<Difference> difference{};
  framework::Trace shown{};
  // As the recording (or `until`, or the difference) left it; null when there was no process.
  std::unique_ptr<framework::Core> core{};
  TimePoint now{};
};

// `log` must be seekable: it is read twice. kInvalid names the line.
Result<Replayed> replay(std::istream& log, const framework::Registry& registry, const ReplayOptions& options);
// Errors name the file.
Result<Replayed> replay_file(const std::string& path, const framework::Registry& registry,
                             const ReplayOptions& options);

}  // namespace muster::cmd
