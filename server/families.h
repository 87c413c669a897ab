// The table of all metric families: names, help and labels. Internal to server/.
#pragma once

#include "server/metrics.h"
#include "server/series_table.h"

#include <prometheus/registry.h>

#include <set>
#include <string>
#include <utility>

namespace muster::server {

struct Metrics::Families {
  explicit Families(std::string replica_role);

  // In every table.
  std::string role;
  prometheus::Registry registry{};

  // Of the process.
  GaugeTable build_info;
  GaugeTable ledger_drift;
  CounterTable events;
  HistogramTable settle_seconds;
  CounterTable effects;
  CounterTable admission_attempts;

  // Gauges of ClusterQueues; the first label is its name.
  GaugeTable pending;
  GaugeTable finished;
  GaugeTable reserving;
  GaugeTable admitted;
  GaugeTable status;
  GaugeTable info;
  // …with metrics.enableClusterQueueResources: cohort, cluster_queue, flavor, resource.
  GaugeTable reservation;
  GaugeTable usage;
  GaugeTable nominal;
  GaugeTable borrowing_limit;
  GaugeTable lending_limit;

  // Counters and histograms of ClusterQueues; the first label is its name.
  CounterTable reserved_total;
  CounterTable admitted_total;
  CounterTable finished_total;
  CounterTable evicted_total;
  CounterTable evicted_once_total;
  CounterTable preempted_total;
  HistogramTable reserved_wait;
  HistogramTable admission_wait;
  HistogramTable checks_wait;
  HistogramTable ready_wait;
  HistogramTable admitted_until_ready;
  HistogramTable execution_time;

  // Of LocalQueues; the first two labels are name and namespace.
  GaugeTable local_pending;
  GaugeTable local_finished;
  GaugeTable local_reserving;
  GaugeTable local_admitted;
  GaugeTable local_status;
  GaugeTable local_fair_usage;
  CounterTable local_reserved_total;
  CounterTable local_admitted_total;
  CounterTable local_finished_total;
  CounterTable local_evicted_total;

  // Gauges of one queue.
  void publish(const ClusterQueueSummary& queue);
  void publish_quota(const ClusterQueueSummary& queue);
  void publish(const LocalQueueSummary& queue);
  // Ends the gauges not published since the last time, and what was counted of queues that are not among these;
  // `local_queues` by name and namespace.
  void end_others(const std::set<std::string>& queues,
                  const std::set<std::pair<std::string, std::string>>& local_queues);

 private:
  prometheus::Labels common() const { return {{"replica_role", role}}; }
};

}  // namespace muster::server
