// Would one (flavor, resource) of the ClusterQueue hold an amount, now or once victims have left (spec/admission.md
// §3.6)?
#pragma once

#include "api/kueue/queues.h"
#include "framework/points.h"
#include "plugins/flavor_assigner/fungibility.h"

#include <string>
#include <string_view>

namespace muster::plugins {

struct QuotaQuestion {
  framework::FlavorResource fr{};
  Amount considered = 0;  // by earlier podsets of the same Workload
  Amount request = 0;     // of this podset
};

struct QuotaAnswer {
  Grade grade{};
  std::string text{};               // why it does not fit; empty when it does
  std::string_view reason_class{};  // of kNoFit: ExceedsMaxQuota or WaitingForQuota
};

// How a flavor of this fitness is proposed.
framework::FitMode mode_of(Fitness fitness);

std::string unavailable_text(const std::string& resource);

QuotaAnswer check_quota(const framework::FilterContext& context, const api::ClusterQueue& queue,
                        const QuotaQuestion& question);

}  // namespace muster::plugins
