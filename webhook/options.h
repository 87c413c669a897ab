// Everything of the Configuration that admission depends on. A plain value, made once at start.
#pragma once

#include "api/config/configuration.h"
#include "api/validation/validate.h"
#include "webhook/view.h"

#include <string>

namespace muster::webhook {

struct Options {
  bool batch_jobs = true;         // integrations.frameworks: batch/job
  bool pods = false;              // integrations.frameworks: pod
  bool partial_admission = true;  // gate PartialAdmission
  JobOptions jobs{};
  api::ValidationGates gates{};
};

// `own_namespace` is the manager's, which is never selected.
Options options_from(const api::Configuration& configuration, const std::string& own_namespace);

bool has_framework(const api::Configuration& configuration, std::string_view name);

}  // namespace muster::webhook
