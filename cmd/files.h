// Reading whole files for the command line.
#pragma once

#include <string>

#include "base/result.h"

namespace muster::cmd {

// kNotFound or kUnavailable names the file; kTooLarge over `limit` bytes.
Result<std::string> read_file(const std::string& path, std::size_t limit = 64U << 20);
// Replaces the file's content.
Status write_file(const std::string& path, const std::string& content);

}  // namespace muster::cmd
