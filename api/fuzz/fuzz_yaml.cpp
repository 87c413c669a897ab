// Any text as YAML and as a configuration file.
#include "api/codec/yaml.h"
#include "api/config/configuration.h"

#include <nlohmann/json.hpp>

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto documents = muster::api::yaml_to_json(text, {.bytes = 1u << 16, .depth = 100, .nodes = 10'000});
  if (documents.ok()) {
    (void)muster::api::parse_configuration(text);
  }
  return 0;
}
