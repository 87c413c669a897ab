#include "server/families.h"

#include <limits>
#include <string_view>
#include <utility>

namespace muster::server {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// 1, 2.5, 5, 10, 20, …: `count` boundaries.
prometheus::Histogram::BucketBoundaries doubling(std::size_t count) {
  prometheus::Histogram::BucketBoundaries boundaries{1};
  for (double next = 2.5; boundaries.size() < count; next *= 2) {
    boundaries.push_back(next);
  }
  return boundaries;
}

prometheus::Histogram::BucketBoundaries settle_buckets() {
  return {0.0001, 0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5};
}

FamilyText kueue(std::string name, std::string help, std::vector<std::string> labels) {
  return {.name = "kueue_" + std::move(name), .help = std::move(help), .labels = std::move(labels)};
}

FamilyText timed(std::string name, std::string help, std::size_t buckets) {
  FamilyText text = kueue(std::move(name), std::move(help), {"cluster_queue", "priority_class"});
  text.buckets = doubling(buckets);
  return text;
}

FamilyText quota(std::string name, std::string help) {
  return kueue("cluster_queue_" + std::move(name), std::move(help), {"cohort", "cluster_queue", "flavor", "resource"});
}

FamilyText muster(std::string name, std::string help, std::vector<std::string> labels) {
  return {.name = "muster_" + std::move(name), .help = std::move(help), .labels = std::move(labels)};
}

FamilyText muster_settle() {
  FamilyText text = muster("settle_seconds", "Time of one round of the decision thread", {});
  text.buckets = settle_buckets();
  return text;
}

const std::vector<std::string> kQueue = {"cluster_queue"};
const std::vector<std::string> kQueueStatus = {"cluster_queue", "status"};
const std::vector<std::string> kQueueClass = {"cluster_queue", "priority_class"};
const std::vector<std::string> kEviction = {"cluster_queue", "reason", "underlying_cause", "priority_class"};
const std::vector<std::string> kLocal = {"name", "namespace"};
const std::vector<std::string> kLocalClass = {"name", "namespace", "priority_class"};

std::string_view name_of(QueuePhase phase) {
  switch (phase) {
    case QueuePhase::kPending:
      return "pending";
    case QueuePhase::kActive:
      return "active";
    case QueuePhase::kTerminating:
      return "terminating";
  }
  return {};
}

std::string_view name_of(api::ConditionStatus status) {
  switch (status) {
    case api::ConditionStatus::kTrue:
      return "True";
    case api::ConditionStatus::kFalse:
      return "False";
    case api::ConditionStatus::kUnknown:
      return "Unknown";
  }
  return {};
}

// 1 for the value that holds, 0 for the others.
template <class Value, std::size_t N>
void one_hot(GaugeTable& table, const LabelValues& owner, const Value (&all)[N], Value current) {
  for (const Value value : all) {
    LabelValues labels = owner;
    labels.emplace_back(name_of(value));
    table.at(labels).Set(value == current ? 1 : 0);
  }
}

}  // namespace

Metrics::Families::Families(std::string replica_role)
    : role(std::move(replica_role)),
      build_info(registry,
                 kueue("build_info", "Which build this is",
                       {"git_version", "git_commit", "build_date", "go_version", "compiler", "platform"}),
                 {}),
      ledger_drift(registry,
                   muster("ledger_drift", "Differences between the quota ledger and the objects; always 0", {}),
                   common()),
      events(registry, muster("events_total", "Events that the decision thread has taken", {}), common()),
      settle_seconds(registry, muster_settle(), common()),
      effects(registry, muster("effects_total", "Requests to the API server", {"kind", "method", "result"}), common()),
      admission_attempts(registry, kueue("admission_attempts_total", "Scheduling cycles by result", {"result"}),
                         common()),
      pending(registry, kueue("pending_workloads", "Workloads that wait for quota", kQueueStatus), common()),
      finished(registry, kueue("finished_workloads", "Finished Workloads that still exist", kQueue), common()),
      reserving(registry, kueue("reserving_active_workloads", "Workloads that hold quota", kQueue), common()),
      admitted(registry, kueue("admitted_active_workloads", "Admitted Workloads that are not finished", kQueue),
               common()),
      status(registry, kueue("cluster_queue_status", "1 for the status that the ClusterQueue has", kQueueStatus),
             common()),
      info(registry,
           kueue("cluster_queue_info", "Where the ClusterQueue hangs in its cohort",
                 {"cluster_queue", "parent_cohort", "root_cohort"}),
           common()),
      reservation(registry, quota("resource_reservation", "Quota held by Workloads with a reservation"), common()),
      usage(registry, quota("resource_usage", "Quota held by admitted Workloads"), common()),
      nominal(registry, quota("nominal_quota", "Nominal quota"), common()),
      borrowing_limit(registry, quota("borrowing_limit", "Most that may be borrowed"), common()),
      lending_limit(registry, quota("lending_limit", "Most that is lent"), common()),
      reserved_total(registry, kueue("quota_reserved_workloads_total", "Reservations made", kQueueClass), common()),
      admitted_total(registry, kueue("admitted_workloads_total", "Workloads admitted", kQueueClass), common()),
      finished_total(registry, kueue("finished_workloads_total", "Workloads finished", kQueueClass), common()),
      evicted_total(registry, kueue("evicted_workloads_total", "Evictions", kEviction), common()),
      evicted_once_total(
          registry,
          kueue("evicted_workloads_once_total", "Workloads evicted for a reason for the first time", kEviction),
          common()),
      preempted_total(registry,
                      kueue("preempted_workloads_total", "Preemptions by the queue they were made for",
                            {"preempting_cluster_queue", "reason"}),
                      common()),
      reserved_wait(registry, timed("quota_reserved_wait_time_seconds", "From queued to reserved", 14), common()),
      admission_wait(registry, timed("admission_wait_time_seconds", "From queued to admitted", 16), common()),
      checks_wait(registry, timed("admission_checks_wait_time_seconds", "From reserved to admitted", 14), common()),
      ready_wait(registry, timed("ready_wait_time_seconds", "From queued to all pods ready", 14), common()),
      admitted_until_ready(
          registry, timed("admitted_until_ready_wait_time_seconds", "From admitted to all pods ready", 14), common()),
      execution_time(registry, timed("execution_time_seconds", "Time admitted, of finished Workloads", 16), common()),
      local_pending(
          registry,
          kueue("local_queue_pending_workloads", "Workloads that wait for quota", {"name", "namespace", "status"}),
          common()),
      local_finished(registry, kueue("local_queue_finished_workloads", "Finished Workloads that still exist", kLocal),
                     common()),
      local_reserving(registry, kueue("local_queue_reserving_active_workloads", "Workloads that hold quota", kLocal),
                      common()),
      local_admitted(registry,
                     kueue("local_queue_admitted_active_workloads", "Admitted Workloads that are not finished", kLocal),
                     common()),
      local_status(
          registry,
          kueue("local_queue_status", "1 for the state of the condition Active", {"name", "namespace", "active"}),
          common()),
      local_fair_usage(registry,
                       kueue("local_queue_admission_fair_sharing_usage", "What orders the LocalQueues of a ClusterQueue",
                             {"name", "namespace", "cluster_queue"}),
                       common()),
      local_reserved_total(
          registry, kueue("local_queue_quota_reserved_workloads_total", "Reservations made", kLocalClass), common()),
      local_admitted_total(registry, kueue("local_queue_admitted_workloads_total", "Workloads admitted", kLocalClass),
                           common()),
      local_finished_total(registry, kueue("local_queue_finished_workloads_total", "Workloads finished", kLocalClass),
                           common()),
      local_evicted_total(registry,
                          kueue("local_queue_evicted_workloads_total", "Evictions",
                                {"name", "namespace", "reason", "underlying_cause", "priority_class"}),
                          common()) {}

void Metrics::Families::publish(const ClusterQueueSummary& queue) {
  pending.at({queue.name, "active"}).Set(queue.counts.pending_active);
  pending.at({queue.name, "inadmissible"}).Set(queue.counts.pending_inadmissible);
  finished.at({queue.name}).Set(queue.counts.finished);
  reserving.at({queue.name}).Set(queue.counts.reserving);
  admitted.at({queue.name}).Set(queue.counts.admitted);
  one_hot(status, {queue.name}, {QueuePhase::kPending, QueuePhase::kActive, QueuePhase::kTerminating}, queue.phase);
  info.at({queue.name, queue.cohort, queue.root_cohort}).Set(1);
}

void Metrics::Families::publish_quota(const ClusterQueueSummary& queue) {
  for (const QuotaLine& line : queue.quota) {
    const LabelValues labels = {queue.cohort, queue.name, line.flavor, line.resource};
    reservation.at(labels).Set(line.reserved);
    usage.at(labels).Set(line.used);
    nominal.at(labels).Set(line.nominal);
    borrowing_limit.at(labels).Set(line.borrowing_limit.value_or(kInfinity));
    lending_limit.at(labels).Set(line.lending_limit.value_or(kInfinity));
  }
}

void Metrics::Families::publish(const LocalQueueSummary& queue) {
  local_pending.at({queue.name, queue.ns, "active"}).Set(queue.counts.pending_active);
  local_pending.at({queue.name, queue.ns, "inadmissible"}).Set(queue.counts.pending_inadmissible);
  local_finished.at({queue.name, queue.ns}).Set(queue.counts.finished);
  local_reserving.at({queue.name, queue.ns}).Set(queue.counts.reserving);
  local_admitted.at({queue.name, queue.ns}).Set(queue.counts.admitted);
  one_hot(local_status, {queue.name, queue.ns},
          {api::ConditionStatus::kTrue, api::ConditionStatus::kFalse, api::ConditionStatus::kUnknown}, queue.active);
  if (queue.fair_usage) {
    local_fair_usage.at({queue.name, queue.ns, queue.cluster_queue}).Set(*queue.fair_usage);
  }
}

void Metrics::Families::end_others(const std::set<std::string>& queues,
                                   const std::set<std::pair<std::string, std::string>>& local_queues) {
  for (GaugeTable* table :
       {&pending, &finished, &reserving, &admitted, &status, &info, &reservation, &usage, &nominal, &borrowing_limit,
        &lending_limit, &local_pending, &local_finished, &local_reserving, &local_admitted, &local_status,
        &local_fair_usage}) {
    table->sweep();
  }
  const auto queue_gone = [&queues](const LabelValues& values) { return !queues.contains(values.front()); };
  for (CounterTable* table :
       {&reserved_total, &admitted_total, &finished_total, &evicted_total, &evicted_once_total, &preempted_total}) {
    table->end_if(queue_gone);
  }
  for (HistogramTable* table :
       {&reserved_wait, &admission_wait, &checks_wait, &ready_wait, &admitted_until_ready, &execution_time}) {
    table->end_if(queue_gone);
  }
  for (CounterTable* table :
       {&local_reserved_total, &local_admitted_total, &local_finished_total, &local_evicted_total}) {
    table->end_if([&](const LabelValues& values) { return !local_queues.contains({values[0], values[1]}); });
  }
}

}  // namespace muster::server
