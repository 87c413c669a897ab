// What the decision thread publishes for people and dashboards: gauges as plain numbers, copied from a core at rest.
#pragma once

#include "api/core/meta.h"
#include "framework/core.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace muster::server {

enum class QueuePhase { kPending, kActive, kTerminating };

// One (flavor, resource) of a ClusterQueue, in the unit that Kueue's metrics have: cores, bytes, pieces.
struct QuotaLine {
  std::string flavor{};
  std::string resource{};
  double nominal = 0;
  std::optional<double> borrowing_limit{};
  std::optional<double> lending_limit{};
  double reserved = 0;  // by Workloads with a reservation
  double used = 0;      // by admitted ones
};

struct QueueCounts {
  std::int32_t pending_active = 0;
  std::int32_t pending_inadmissible = 0;
  std::int32_t reserving = 0;
  std::int32_t admitted = 0;
  std::int32_t finished = 0;
};

struct ClusterQueueSummary {
  std::string name{};
  std::string cohort{};
  std::string root_cohort{};
  QueuePhase phase = QueuePhase::kPending;
  QueueCounts counts{};
  std::vector<QuotaLine> quota{};
};

struct LocalQueueSummary {
  std::string ns{};
  std::string name{};
  std::string cluster_queue{};
  api::ConditionStatus active = api::ConditionStatus::kUnknown;
  QueueCounts counts{};
  std::optional<double> fair_usage{};  // where admission fair sharing applies
};

struct Summary {
  std::vector<ClusterQueueSummary> cluster_queues{};
  std::vector<LocalQueueSummary> local_queues{};
};

// O(Workloads + queues): call it once in a while, not after every settle. `with_quota`: fill
// ClusterQueueSummary::quota.
enum class QuotaLines { kLeaveOut, kFill };
Summary summarize(const framework::Core& core, QuotaLines quota);

}  // namespace muster::server
