#include "server/metrics.h"

#include "server/families.h"

#include <prometheus/text_serializer.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

namespace muster::server {
namespace {

double seconds(Duration duration) {
  return std::chrono::duration<double>(duration).count();
}

void bring_to(prometheus::Counter& counter, std::uint64_t total) {
  counter.Increment(std::max(0.0, static_cast<double>(total) - counter.Value()));
}

}  // namespace

Metrics::Metrics(MetricsOptions options) : options_(std::move(options)) {
  set_role("standalone");
}

Metrics::~Metrics() = default;

void Metrics::set_role(const std::string& role) {
  auto fresh = std::make_shared<Families>(role);
  fresh->build_info.at({options_.version, "", "", "", "gcc " __VERSION__, "linux"}).Set(1);
  fresh->ledger_drift.at({}).Set(0);
  const std::lock_guard lock(mutex_);
  if (families_ == nullptr || families_->role != role) {
    families_ = std::move(fresh);
  }
}

void Metrics::publish(const Summary& summary) {
  const std::lock_guard lock(mutex_);
  std::set<std::string> queues{""};  // Workloads that never had a queue
  for (const ClusterQueueSummary& queue : summary.cluster_queues) {
    queues.insert(queue.name);
    families_->publish(queue);
    if (options_.cluster_queue_resources) {
      families_->publish_quota(queue);
    }
  }
  std::set<std::pair<std::string, std::string>> local_queues;
  if (options_.local_queues) {
    for (const LocalQueueSummary& queue : summary.local_queues) {
      local_queues.insert({queue.name, queue.ns});
      families_->publish(queue);
    }
  }
  families_->end_others(queues, local_queues);
}

void Metrics::count(const WorkloadChange& change) {
  const std::lock_guard lock(mutex_);
  Families& f = *families_;
  const LabelValues queue = {change.cluster_queue, change.priority_class};
  const LabelValues local = {change.local_queue.name, change.local_queue.ns, change.priority_class};
  const auto count_local = [&](CounterTable& table, const LabelValues& values) {
    if (options_.local_queues) {
      table.at(values).Increment();
    }
  };
  switch (change.what) {
    case Change::kQuotaReserved:
      f.reserved_total.at(queue).Increment();
      f.reserved_wait.at(queue).Observe(seconds(change.waited));
      count_local(f.local_reserved_total, local);
      break;
    case Change::kAdmitted:
      f.admitted_total.at(queue).Increment();
      f.admission_wait.at(queue).Observe(seconds(change.waited));
      if (change.since_last) {
        f.checks_wait.at(queue).Observe(seconds(*change.since_last));
      }
      count_local(f.local_admitted_total, local);
      break;
    case Change::kPodsReady:
      f.ready_wait.at(queue).Observe(seconds(change.waited));
      if (change.since_last) {
        f.admitted_until_ready.at(queue).Observe(seconds(*change.since_last));
      }
      break;
    case Change::kEvicted: {
      const LabelValues eviction = {change.cluster_queue, change.reason, change.cause, change.priority_class};
      f.evicted_total.at(eviction).Increment();
      if (change.first_of_its_kind) {
        f.evicted_once_total.at(eviction).Increment();
      }
      count_local(f.local_evicted_total, {local[0], local[1], change.reason, change.cause, change.priority_class});
      break;
    }
    case Change::kPreempted:
      f.preempted_total.at({change.cluster_queue, change.reason}).Increment();
      break;
    case Change::kFinished:
      f.finished_total.at(queue).Increment();
      f.execution_time.at(queue).Observe(seconds(change.waited));
      count_local(f.local_finished_total, local);
      break;
  }
}

void Metrics::count_cycles(const framework::Trace& trace) {
  std::map<std::uint64_t, bool> admitted;  // by cycle
  for (const framework::TraceEntry& entry : trace) {
    const bool of_a_cycle = entry.outcome != framework::Outcome::kGated &&
                            entry.outcome != framework::Outcome::kBound &&
                            entry.outcome != framework::Outcome::kEvicted;
    if (of_a_cycle) {
      admitted[entry.cycle] |= entry.outcome == framework::Outcome::kAdmitted;
    }
  }
  const std::lock_guard lock(mutex_);
  for (const auto& [cycle, success] : admitted) {
    families_->admission_attempts.at({success ? "success" : "inadmissible"}).Increment();
  }
}

void Metrics::count_settle(Duration spent, std::size_t events) {
  const std::lock_guard lock(mutex_);
  families_->settle_seconds.at({}).Observe(seconds(spent));
  families_->events.at({}).Increment(static_cast<double>(events));
}

void Metrics::set_writes(const client::ExecutorStats& stats) {
  const std::lock_guard lock(mutex_);
  for (const client::RequestCount& request : stats.requests) {
    bring_to(families_->effects.at({request.kind, request.method, request.code}), request.count);
  }
}

void Metrics::set_drift(std::size_t differences) {
  const std::lock_guard lock(mutex_);
  families_->ledger_drift.at({}).Set(static_cast<double>(differences));
}

std::string Metrics::text() const {
  std::shared_ptr<Families> families;
  {
    const std::lock_guard lock(mutex_);
    families = families_;
  }
  std::vector<prometheus::MetricFamily> collected = families->registry.Collect();
  for (prometheus::MetricFamily& family : collected) {
    std::sort(family.metric.begin(), family.metric.end(),
              [](const auto& a, const auto& b) { return a.label < b.label; });
  }
  return prometheus::TextSerializer{}.Serialize(collected);
}

}  // namespace muster::server
