#include "sim/report.h"

#include "api/codec/decode.h"
#include "controllers/requests/json_edit.h"
#include "sim/simulator.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

namespace muster::sim {
namespace {

using api::Json;
using controllers::find_at;
using controllers::has_true_condition;
using controllers::text_at;
using Span = JobReport::Span;

Duration since_start(TimePoint time) {
  return time - kStartOfTime;
}

const Json* condition(const Json& object, std::string_view type) {
  const Json* conditions = find_at(object, {"status", "conditions"});
  for (std::size_t i = 0; conditions != nullptr && i < conditions->size(); ++i) {
    if (text_at((*conditions)[i], {"type"}) == type) {
      return &(*conditions)[i];
    }
  }
  return nullptr;
}

// State and reason of a Job that has not finished.
std::pair<std::string, std::string> unfinished_state(const JobRecord& job, const ApiServer& server) {
  const bool open = !job.attempts.empty() && !job.attempts.back().ended;
  if (open && job.attempts.back().started) {
    return {"Running", ""};
  }
  const Stored workload = job.workload.empty() ? nullptr : server.find(kind_of("Workload"), {job.key.ns, job.workload});
  if (workload == nullptr) {
    return job.queue.empty() ? std::pair<std::string, std::string>{"Pending", "no pod of it runs"}
                             : std::pair<std::string, std::string>{"Suspended", "it has no Workload"};
  }
  if (open) {
    return {"Admitted", "its pods are not running"};
  }
  const Json* reserved = condition(*workload, "QuotaReserved");
  std::string message = reserved == nullptr ? std::string() : text_at(*reserved, {"message"});
  return {"Pending", message.empty() ? "not considered yet" : std::move(message)};
}

std::vector<Span> spans_of(const JobRecord& job, TimePoint end) {
  std::vector<Span> spans;
  const auto add = [&spans](TimePoint from, TimePoint to, Span::What what) {
    if (to > from) {
      spans.push_back({.from = since_start(from), .to = since_start(to), .what = what});
    }
  };
  TimePoint at = job.submitted;
  for (const Attempt& attempt : job.attempts) {
    add(at, attempt.admitted, Span::What::kWaiting);
    const TimePoint ended = attempt.ended.value_or(end);
    const TimePoint started = attempt.started.value_or(ended);
    add(attempt.admitted, started, Span::What::kStarting);
    add(started, ended, Span::What::kRunning);
    if (!spans.empty()) {
      spans.back().evicted = !attempt.evicted.empty();
      spans.back().nodes.assign(attempt.nodes.begin(), attempt.nodes.end());
    }
    at = ended;
  }
  if (!job.finished) {
    add(at, end, Span::What::kWaiting);
  }
  return spans;
}

JobReport report_of(const JobRecord& job, const ApiServer& server, TimePoint end) {
  JobReport report{.name = to_string(job.key), .queue = job.queue, .submitted = since_start(job.submitted)};
  for (const Attempt& attempt : job.attempts) {
    report.preempted += attempt.evicted == "Preempted" ? 1 : 0;
    report.evicted += attempt.evicted.empty() || attempt.evicted == "Preempted" ? 0 : 1;
  }
  if (!job.attempts.empty()) {
    const Attempt& last = job.attempts.back();
    report.admitted = job.queue.empty() ? std::nullopt : std::optional(since_start(last.admitted));
    report.started = last.started ? std::optional(since_start(*last.started)) : std::nullopt;
    report.nodes.assign(last.nodes.begin(), last.nodes.end());
  }
  report.spans = spans_of(job, end);
  for (const Span& span : report.spans) {
    report.waited += span.what == Span::What::kRunning ? Duration::zero() : span.to - span.from;
  }
  if (job.finished) {
    report.finished = since_start(*job.finished);
    report.state = job.failed ? "Failed" : "Finished";
  } else {
    std::tie(report.state, report.reason) = unfinished_state(job, server);
  }
  return report;
}

// Nearest rank.
std::optional<Duration> percentile(std::vector<Duration> values, int percent) {
  if (values.empty()) {
    return std::nullopt;
  }
  std::sort(values.begin(), values.end());
  const std::size_t rank = (values.size() * static_cast<std::size_t>(percent) + 99) / 100;
  return values[std::max<std::size_t>(rank, 1) - 1];
}

void add_amounts(std::map<std::string, double>& sum, const api::ResourceAmounts& amounts) {
  for (const auto& [resource, amount] : amounts) {
    sum[resource] += static_cast<double>(amount);
  }
}

template <class T>
void add_quotas(std::map<std::string, double>& sum, const ApiServer& server, const char* kind) {
  for (const auto& [key, object] : server.all(kind_of(kind))) {
    const auto holder = api::decode<T>(*object);
    for (std::size_t i = 0; holder.ok() && i < holder->resource_groups.size(); ++i) {
      for (const api::FlavorQuotas& flavor : holder->resource_groups[i].flavors) {
        for (const api::ResourceQuota& quota : flavor.resources) {
          sum[quota.resource] += static_cast<double>(quota.nominal);
        }
      }
    }
  }
}

// What the nodes offer; without nodes, all quota.
std::map<std::string, double> capacity(const ApiServer& server) {
  std::map<std::string, double> sum;
  const auto& nodes = server.all(kind_of("Node"));
  for (const auto& [key, object] : nodes) {
    if (const auto node = api::decode<api::Node>(*object); node.ok()) {
      add_amounts(sum, node->allocatable);
    }
  }
  if (!nodes.empty()) {
    return sum;
  }
  add_quotas<api::ClusterQueue>(sum, server, "ClusterQueue");
  add_quotas<api::Cohort>(sum, server, "Cohort");
  return sum;
}

void add_totals(const Simulator& simulator, Report& report) {
  std::vector<Duration> waits;
  std::optional<Duration> first;
  Duration last{};
  for (const JobReport& job : report.jobs) {
    report.finished += job.finished ? 1 : 0;
    report.pending += job.state == "Pending" || job.state == "Suspended" ? 1 : 0;
    report.preemptions += job.preempted;
    first = first ? std::min(*first, job.submitted) : job.submitted;
    for (const Span& span : job.spans) {
      last = span.what == Span::What::kWaiting ? last : std::max(last, span.to);
    }
    if (job.started) {
      waits.push_back(job.waited);
    }
  }
  report.makespan = first ? std::max(last - *first, Duration::zero()) : Duration::zero();
  report.wait_p50 = percentile(waits, 50);
  report.wait_p99 = percentile(std::move(waits), 99);
  const double seconds = std::chrono::duration<double>(report.makespan).count();
  const auto used = simulator.recorder().used_until(kStartOfTime + report.end);
  for (const auto& [resource, total] : capacity(simulator.server())) {
    const auto found = used.find(resource);
    if (found != used.end() && total > 0 && seconds > 0) {
      report.resources[resource] = {.capacity = total, .utilisation = found->second / (total * seconds)};
    }
  }
}

// What runs, runs until now. When only waiting is left, time has no meaning: it is shown up to the last change.
TimePoint end_of(const Simulator& simulator) {
  const auto& jobs = simulator.recorder().jobs();
  const bool some_run = std::any_of(jobs.begin(), jobs.end(), [](const auto& entry) {
    return !entry.second.attempts.empty() && !entry.second.attempts.back().ended;
  });
  return some_run ? simulator.now() : std::max(simulator.recorder().last_change(), kStartOfTime);
}

}  // namespace

Report make_report(const Simulator& simulator) {
  const TimePoint end = end_of(simulator);
  Report report{.end = since_start(end)};
  for (const auto& [key, job] : simulator.recorder().jobs()) {
    report.jobs.push_back(report_of(job, simulator.server(), end));
  }
  std::stable_sort(report.jobs.begin(), report.jobs.end(),
                   [](const JobReport& a, const JobReport& b) { return a.submitted < b.submitted; });
  add_totals(simulator, report);
  return report;
}

}  // namespace muster::sim
