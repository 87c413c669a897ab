// Traces of real clusters as the simulator's input: every row a pod, in the columns of the openb traces (name,
// cpu_milli, memory_mib, num_gpu, gpu_milli, gpu_spec, creation_time, deletion_time, scheduled_time; times in seconds).
// Pure.
#pragma once

#include "base/result.h"
#include "sim/manifests.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace muster::sim {

struct TraceOptions {
  std::size_t gang_size = 1;  // so many consecutive rows that ask for the same become one gang
  std::size_t max_rows = 0;   // 0: all
  std::int64_t speedup = 1;   // arrivals follow one another so many times faster; run times stay
};

// Adds one Job a row (a gang: one Job a group), which Muster places on nodes, and one queue for all of them whose quota
// is what the nodes in `out` offer (without nodes: no limit). A pod runs as long as it did once it was placed.
//
// GPUs are counted in thousandths (alibabacloud.com/gpu-milli: num_gpu × gpu_milli), so two halves of different GPUs
// can serve a pod that wants a whole one. gpu_spec `A|B` becomes a required node affinity to these card models.
Status read_trace(std::string_view csv, const TraceOptions& options, Manifests& out);

}  // namespace muster::sim
