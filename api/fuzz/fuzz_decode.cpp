// Any text: parse, decode as every kind, validate, print. Nothing may crash, throw or hang.
#include "api/batch/job.h"
#include "api/codec/decode.h"
#include "api/codec/encode.h"
#include "api/validation/validate.h"
#include "base/check.h"

#include <nlohmann/json.hpp>

#include <cstdint>

namespace {

using namespace muster::api;  // NOLINT(google-build-using-namespace)

// What decodes must print and decode again.
template <class T>
void try_kind(const Json& json) {
  if (const auto object = decode<T>(json); object.ok()) {
    const auto text = parse_json(dump_json(encode(*object)));
    MUSTER_CHECK(text.ok() && decode<T>(*text).ok()) << dump_json(json);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto json = parse_json({reinterpret_cast<const char*>(data), size}, {.bytes = 1u << 16, .depth = 128});
  if (!json.ok()) {
    return 0;
  }
  try_kind<Workload>(*json);
  try_kind<ClusterQueue>(*json);
  try_kind<Cohort>(*json);
  try_kind<LocalQueue>(*json);
  try_kind<ResourceFlavor>(*json);
  try_kind<Job>(*json);
  try_kind<Pod>(*json);
  try_kind<Node>(*json);
  to_string(validate_workload(*json, nullptr));
  to_string(validate_workload(*json, &*json, {.priority_boost = true}));
  to_string(validate_cluster_queue(*json, &*json, {.concurrent_admission = true}));
  to_string(validate_cohort(*json));
  to_string(validate_resource_flavor(*json));
  return 0;
}
