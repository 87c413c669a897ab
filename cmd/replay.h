// `muster replay FILE`: the decisions of a recorded manager again, compared with what it did.
#pragma once

#include "framework/registry.h"

#include <cstdint>
#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace muster::cmd {

struct ReplayFlags {
  std::string file{};
  std::optional<std::uint64_t> until{};       // --until
  std::optional<std::uint64_t> show_cycle{};  // --show-cycle
  std::string output = "table";               // --output
};

void add_replay(CLI::App& app, ReplayFlags& flags);

// 0: the same effects; 1: a difference; 2: the file cannot be read.
int run_replay(const ReplayFlags& flags, const framework::Registry& registry);

}  // namespace muster::cmd
