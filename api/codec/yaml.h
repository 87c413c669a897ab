// The wall to YAML: text -> JSON with the typing rules of Kubernetes' tools (YAML 1.1 as sigs.k8s.io/yaml reads it),
// for the operator's own files: configuration, profiles, simulator input. Never for text from the network.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace muster::api {

struct YamlLimits {
  std::size_t bytes = 16u << 20;
  int depth = 100;
  std::size_t nodes = 1'000'000;  // counted after aliases are followed: an alias bomb dies here
};

// One value a document; empty and comment-only documents are left out. Errors name the line. Refused where a reader
// could be surprised: duplicate keys, integers with leading zeros, integers beyond 64 bits, infinities, unknown tags.
Result<std::vector<Json>> yaml_to_json(std::string_view text, const YamlLimits& limits = {});

}  // namespace muster::api
