// The checks that ClusterQueue and Cohort share: resource groups and the fair-sharing weight. Internal to validation.
#pragma once

#include "api/codec/json.h"
#include "api/kueue/queues.h"
#include "api/validation/field_error.h"

#include <string_view>

namespace muster::api {

struct QuotaRules {
  bool has_parent = false;              // limits need one
  std::string_view needs_parent{};      // detail when there is none
  bool lending_within_nominal = false;  // lendingLimit ≤ nominalQuota
};

FieldErrors validate_resource_groups(const std::vector<ResourceGroup>& groups, const QuotaRules& rules);
// `spec` as JSON: a weight within (0, 1n] is gone once decoded.
FieldErrors validate_fair_weight(const Json& spec);
// `spec` of an object, or an empty object.
const Json& spec_of(const Json& object);

}  // namespace muster::api
