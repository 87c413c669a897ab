// What the commands that run without a cluster share: manifests, configuration and durations from the command line.
#pragma once

#include "base/time.h"
#include "cmd/core_setup.h"
#include "framework/registry.h"
#include "sim/manifests.h"
#include "sim/simulator.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::cmd {

// `level: message` on stderr.
void complain(std::string_view level, const std::string& message);

// A file, or `-` for stdin.
Result<std::string> read_input(const std::string& path);
// Files, folders (read whole) and `-` for stdin.
Status read_manifest_files(const std::vector<std::string>& paths, sim::Manifests& out);

// The error names the flag.
Result<Duration> duration_flag(const char* flag, const std::string& text);

struct OfflineFiles {
  std::string config_file{};   // Kueue's Configuration; empty: its defaults
  std::string profile_file{};  // empty: the default profile
};

Result<CoreSetup> read_setup(const OfflineFiles& files);
// Fills what the files decide; warns on stderr of what is not supported.
Status configure(const OfflineFiles& files, const framework::Registry& registry, sim::SimulatorOptions& options);

}  // namespace muster::cmd
