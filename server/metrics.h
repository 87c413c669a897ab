// Metrics: Kueue's metrics, by its names (spec/workloads.md §7.1), and a few of our own, as Prometheus text. A series
// lives as long as the ClusterQueue or LocalQueue it speaks of.
//
// Any thread; text() does not hold up those who count.
#pragma once

#include "base/time.h"
#include "client/executor.h"
#include "framework/trace.h"
#include "server/summary.h"
#include "server/workload_changes.h"

#include <memory>
#include <mutex>
#include <string>

namespace muster::server {

struct MetricsOptions {
  bool cluster_queue_resources = false;  // metrics.enableClusterQueueResources
  bool local_queues = true;              // metrics.localQueueMetrics
  std::string version{};                 // for kueue_build_info
};

class Metrics {
 public:
  explicit Metrics(MetricsOptions options);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  // `leader`, `follower` or `standalone`: the label replica_role of every series. A change begins all series anew.
  void set_role(const std::string& role);

  // All gauges about queues. Series of queues that are not in it end.
  void publish(const Summary& summary);
  void count(const WorkloadChange& change);
  // Scheduling cycles: those that admitted somebody, and those that did not.
  void count_cycles(const framework::Trace& trace);
  void count_settle(Duration spent, std::size_t events);
  void set_writes(const client::ExecutorStats& stats);
  void set_drift(std::size_t differences);

  // The exposition format, version 0.0.4; series in the order of their labels.
  std::string text() const;

 private:
  struct Families;

  MetricsOptions options_;
  mutable std::mutex mutex_{};
  std::shared_ptr<Families> families_;  // guarded by mutex_
};

}  // namespace muster::server
