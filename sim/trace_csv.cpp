#include "sim/trace_csv.h"

#include "api/codec/decode.h"
#include "api/constants.h"
#include "base/quantity.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace muster::sim {
namespace {

using api::Json;

constexpr const char* kName = "trace";  // of namespace, queues and flavor
constexpr const char* kGpu = "alibabacloud.com/gpu-milli";
constexpr const char* kCardLabel = "alibabacloud.com/gpu-card-model";

struct Row {
  std::string name{};
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  std::int64_t gpu_milli = 0;  // of all its GPUs
  std::string cards{};
  std::int64_t created = 0;
  std::int64_t run_seconds = 0;

  bool asks_like(const Row& other) const {
    return cpu_milli == other.cpu_milli && memory_mib == other.memory_mib && gpu_milli == other.gpu_milli &&
           cards == other.cards;
  }
};

using Columns = std::map<std::string_view, std::size_t>;

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

// One line of the table, read by column names.
class Line {
 public:
  Line(const Columns& columns, std::string_view text) : columns_(columns), cells_(split(text, ',')) {}

  std::string_view text(std::string_view column) const {
    const auto found = columns_.find(column);
    return found == columns_.end() || found->second >= cells_.size() ? std::string_view() : cells_[found->second];
  }

  // An empty cell is absent.
  Result<std::optional<std::int64_t>> number(std::string_view column) const {
    const std::string_view cell = text(column);
    if (cell.empty()) {
      return std::optional<std::int64_t>();
    }
    double value = 0;  // some traces write 123.0
    const auto parsed = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (parsed.ec != std::errc{} || parsed.ptr != cell.data() + cell.size() || value < 0 || value > 1e15) {
      return invalid(fmt::format("not a count: \"{}\"", cell), std::string(column));
    }
    return std::optional(static_cast<std::int64_t>(value));
  }

 private:
  const Columns& columns_;
  std::vector<std::string_view> cells_;
};

Result<Row> row_of(const Line& line) {
  Row row{.name = std::string(line.text("name")), .cards = std::string(line.text("gpu_spec"))};
  if (row.name.empty()) {
    return invalid("Required value", "name");
  }
  MUSTER_TRY(cpu, line.number("cpu_milli"));
  MUSTER_TRY(memory, line.number("memory_mib"));
  MUSTER_TRY(gpus, line.number("num_gpu"));
  MUSTER_TRY(gpu_milli, line.number("gpu_milli"));
  MUSTER_TRY(created, line.number("creation_time"));
  MUSTER_TRY(deleted, line.number("deletion_time"));
  MUSTER_TRY(scheduled, line.number("scheduled_time"));
  row.cpu_milli = cpu.value_or(0);
  row.memory_mib = memory.value_or(0);
  row.gpu_milli = gpus.value_or(0) * gpu_milli.value_or(0);
  row.created = created.value_or(0);
  row.run_seconds = std::max<std::int64_t>(0, deleted.value_or(row.created) - scheduled.value_or(row.created));
  return row;
}

Json affinity(const std::string& cards) {
  Json values = Json::array();
  for (const std::string_view card : split(cards, '|')) {
    values.push_back(std::string(card));
  }
  const Json term = {{"matchExpressions", {{{"key", kCardLabel}, {"operator", "In"}, {"values", std::move(values)}}}}};
  return {{"nodeAffinity",
           {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", Json::array({term})}}}}}};
}

// The rows of one job: all ask for the same; it is there with its last pod and runs as long as the longest.
Submission job_of(const std::vector<Row>& rows, std::int64_t speedup) {
  const Row& first = rows.front();
  std::int64_t run_seconds = 0;
  for (const Row& row : rows) {
    run_seconds = std::max(run_seconds, row.run_seconds);
  }
  Json requests = {{"cpu", fmt::format("{}m", first.cpu_milli)}, {"memory", fmt::format("{}Mi", first.memory_mib)}};
  if (first.gpu_milli > 0) {
    requests[kGpu] = first.gpu_milli;
  }
  Json spec = {{"schedulerName", std::string(api::kSchedulerName)},
               {"restartPolicy", "Never"},
               {"containers", {{{"name", "main"}, {"resources", {{"requests", std::move(requests)}}}}}}};
  if (!first.cards.empty()) {
    spec["affinity"] = affinity(first.cards);
  }
  Json job = {
      {"apiVersion", "batch/v1"},
      {"kind", "Job"},
      {"metadata",
       {{"name", first.name},
        {"namespace", kName},
        {"labels", {{api::kQueueNameLabel, kName}}},
        {"annotations", {{api::kRunTimeAnnotation, fmt::format("{}s", run_seconds)}}}}},
      {"spec",
       {{"parallelism", rows.size()}, {"completions", rows.size()}, {"template", {{"spec", std::move(spec)}}}}}};
  const Duration created = std::chrono::seconds(rows.back().created);
  return {.at = created / speedup, .kind = &kind_of("Job"), .object = std::move(job)};
}

// What all nodes offer of a resource; without nodes more than anybody asks for.
std::string offered(const Manifests& manifests, const std::string& resource) {
  Amount sum = 0;
  bool some = false;
  for (const Submission& submission : manifests.submissions) {
    if (submission.kind != &kind_of("Node")) {
      continue;
    }
    some = true;
    const auto node = api::decode<api::Node>(submission.object);
    if (node.ok() && node->allocatable.contains(resource)) {
      sum = sat_add(sum, node->allocatable.at(resource));
    }
  }
  return some ? format_amount(resource, sum) : "1000000000000";
}

void add_queue(Manifests& out) {
  Json quotas = Json::array();
  Json covered = Json::array();
  for (const char* resource : {"cpu", "memory", kGpu}) {
    quotas.push_back({{"name", resource}, {"nominalQuota", offered(out, resource)}});
    covered.push_back(resource);
  }
  const Json group = {{"coveredResources", std::move(covered)},
                      {"flavors", {{{"name", kName}, {"resources", std::move(quotas)}}}}};
  const auto add = [&out](const char* kind, Json metadata, Json spec) {
    out.submissions.push_back(
        {.kind = &kind_of(kind), .object = {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}}});
  };
  add("ResourceFlavor", {{"name", kName}}, Json::object());
  add("ClusterQueue", {{"name", kName}},
      {{"namespaceSelector", Json::object()}, {"resourceGroups", Json::array({group})}});
  add("LocalQueue", {{"name", kName}, {"namespace", kName}}, {{"clusterQueue", kName}});
}

}  // namespace

Status read_trace(std::string_view csv, const TraceOptions& options, Manifests& out) {
  std::vector<std::string_view> lines = split(csv, '\n');
  for (std::string_view& line : lines) {
    line = line.substr(0, line.find('\r'));
  }
  Columns columns;
  for (const std::string_view title : split(lines.front(), ',')) {
    columns.emplace(title, columns.size());
  }
  for (const char* needed : {"name", "cpu_milli", "memory_mib", "creation_time", "deletion_time"}) {
    if (!columns.contains(needed)) {
      return invalid(fmt::format("the first line has no column \"{}\"", needed));
    }
  }
  add_queue(out);
  std::vector<Row> gang;
  std::size_t rows = 0;
  for (std::size_t i = 1; i < lines.size() && (options.max_rows == 0 || rows < options.max_rows); ++i) {
    if (lines[i].empty()) {
      continue;
    }
    auto row = row_of(Line(columns, lines[i]));
    if (!row.ok()) {
      return invalid(fmt::format("line {}: {}", i + 1, to_string(row.error())));
    }
    ++rows;
    if (!gang.empty() && (gang.size() >= options.gang_size || !gang.front().asks_like(*row))) {
      out.submissions.push_back(job_of(gang, options.speedup));
      gang.clear();
    }
    gang.push_back(*std::move(row));
  }
  if (!gang.empty()) {
    out.submissions.push_back(job_of(gang, options.speedup));
  }
  return {};
}

}  // namespace muster::sim
