// The text forms of a report: a table for people, JSON for programs.
#include "api/codec/json.h"
#include "base/quantity.h"
#include "sim/report.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <utility>

namespace muster::sim {
namespace {

using api::Json;
using Row = std::array<std::string, 10>;

const Row kTitles = {"JOB",      "QUEUE", "SUBMITTED", "ADMITTED",  "STARTED",
                     "FINISHED", "WAIT",  "NODES",     "PREEMPTED", "STATE"};

std::string or_dash(std::string text) {
  return text.empty() ? "-" : std::move(text);
}

std::string shown(const std::optional<Duration>& time) {
  return time ? format_duration(*time) : "-";
}

std::string shown(const std::vector<std::string>& nodes) {
  constexpr std::size_t kShown = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(nodes.size(), kShown); ++i) {
    text += (i == 0 ? "" : ",") + nodes[i];
  }
  return nodes.size() <= kShown ? or_dash(text) : fmt::format("{},+{}", text, nodes.size() - kShown);
}

Row row_of(const JobReport& job) {
  return {job.name,
          or_dash(job.queue),
          shown(job.submitted),
          shown(job.admitted),
          shown(job.started),
          shown(job.finished),
          shown(job.waited),
          shown(job.nodes),
          job.preempted + job.evicted == 0 ? "-" : std::to_string(job.preempted + job.evicted),
          job.state};
}

std::string amount_text(const std::string& resource, double amount) {
  return format_amount(resource, static_cast<Amount>(std::llround(amount)));
}

void add_summary(const Report& report, std::string& text) {
  text += "\n" + summary(report) + "\n";
  text += fmt::format("makespan {}, waits p50 {}, p99 {}\n", format_duration(report.makespan), shown(report.wait_p50),
                      shown(report.wait_p99));
  for (const auto& [resource, use] : report.resources) {
    const double percent = use.utilisation * 100;
    text += fmt::format("{}: {:.{}f}% of {} used over the makespan\n", resource, percent, percent < 1 ? 2 : 1,
                        amount_text(resource, use.capacity));
  }
}

double as_seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

Json as_seconds(const std::optional<Duration>& duration) {
  return duration ? Json(as_seconds(*duration)) : Json();
}

const char* name_of(JobReport::Span::What what) {
  switch (what) {
    case JobReport::Span::What::kWaiting:
      return "waiting";
    case JobReport::Span::What::kStarting:
      return "starting";
    case JobReport::Span::What::kRunning:
      return "running";
  }
  return "";
}

Json to_json(const JobReport& job) {
  Json spans = Json::array();
  for (const JobReport::Span& span : job.spans) {
    spans.push_back({{"from", as_seconds(span.from)},
                     {"to", as_seconds(span.to)},
                     {"what", name_of(span.what)},
                     {"evicted", span.evicted},
                     {"nodes", span.nodes}});
  }
  return {{"name", job.name},
          {"queue", job.queue},
          {"submitted", as_seconds(job.submitted)},
          {"admitted", as_seconds(job.admitted)},
          {"started", as_seconds(job.started)},
          {"finished", as_seconds(job.finished)},
          {"waited", as_seconds(job.waited)},
          {"nodes", job.nodes},
          {"preempted", job.preempted},
          {"evicted", job.evicted},
          {"state", job.state},
          {"reason", job.reason},
          {"spans", std::move(spans)}};
}

}  // namespace

std::string summary(const Report& report) {
  const std::size_t running = report.jobs.size() - static_cast<std::size_t>(report.finished + report.pending);
  return fmt::format("{} jobs: {} finished, {}{} waiting; {} preemptions", report.jobs.size(), report.finished,
                     running == 0 ? "" : fmt::format("{} running, ", running), report.pending, report.preemptions);
}

std::string to_table(const Report& report) {
  std::vector<Row> rows = {kTitles};
  for (const JobReport& job : report.jobs) {
    rows.push_back(row_of(job));
  }
  std::array<std::size_t, kTitles.size()> widths{};
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const Row& row : rows) {
    for (std::size_t i = 0; i + 1 < row.size(); ++i) {
      text += fmt::format("{:<{}}", row[i], widths[i] + 3);
    }
    text += row.back() + "\n";
  }
  const bool some_wait =
      std::any_of(report.jobs.begin(), report.jobs.end(), [](const JobReport& job) { return !job.reason.empty(); });
  if (some_wait) {
    text += "\nNot finished, because:\n";
  }
  for (const JobReport& job : report.jobs) {
    if (!job.reason.empty()) {
      text += fmt::format("  {}: {}\n", job.name, job.reason);
    }
  }
  add_summary(report, text);
  return text;
}

// Times in seconds since the start of the simulation.
std::string to_json(const Report& report) {
  Json jobs = Json::array();
  for (const JobReport& job : report.jobs) {
    jobs.push_back(to_json(job));
  }
  Json resources = Json::object();
  for (const auto& [resource, use] : report.resources) {
    resources[resource] = {{"capacity", amount_text(resource, use.capacity)}, {"utilisation", use.utilisation}};
  }
  const Json json = {{"jobs", std::move(jobs)},
                     {"resources", std::move(resources)},
                     {"makespan", as_seconds(report.makespan)},
                     {"waitP50", as_seconds(report.wait_p50)},
                     {"waitP99", as_seconds(report.wait_p99)},
                     {"finished", report.finished},
                     {"pending", report.pending},
                     {"preemptions", report.preemptions},
                     {"end", as_seconds(report.end)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace muster::sim
