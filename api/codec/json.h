// The wall to JSON text: parse with limits, read with paths. nlohmann's exceptions stop here. `Json` is only named by
// codecs and by the pure functions that work on whole objects (controllers/jobs, webhook, sim); decisions see values.
#pragma once

#include "base/result.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <string_view>

namespace muster::api {

using Json = nlohmann::json;

struct JsonLimits {
  std::size_t bytes = 16u << 20;
  int depth = 128;  // nesting above this is refused before a DOM exists: deep values crash copy and dump
};

// kInvalid with the byte position on syntax errors, kTooLarge over a limit. Duplicate keys: the last wins, as in Go.
Result<Json> parse_json(std::string_view text, const JsonLimits& limits = {});
// Compact text; invalid UTF-8 is replaced, never thrown.
std::string dump_json(const Json& value);

}  // namespace muster::api
