// The two webhook configuration objects that the API server calls us by, as they follow from our own configuration
// (spec/workloads.md §6.3): by default only objects with a queue label are sent. Pure. Any thread.
#pragma once

#include "api/codec/json.h"
#include "api/config/configuration.h"

#include <string>
#include <string_view>

namespace muster::webhook {

inline constexpr std::string_view kMutatingConfiguration = "muster-mutating-webhook-configuration";
inline constexpr std::string_view kValidatingConfiguration = "muster-validating-webhook-configuration";

// Complete objects but for the CA bundle.
api::Json mutating_configuration(const api::Configuration& configuration, const std::string& own_namespace);
api::Json validating_configuration(const api::Configuration& configuration, const std::string& own_namespace);

// The same object with every default of the API server filled in, for comparison.
api::Json with_api_defaults(api::Json configuration);

// The merge patch that brings `live` in line with `wanted`: JSON null when it is. The CA bundle (PEM) goes into every
// webhook; without one, each keeps what it has (cert-manager's injector put it there). A webhook that is reached by URL
// (a manager outside the cluster) keeps its URL.
api::Json correction(const api::Json& live, const api::Json& wanted, std::string_view ca_bundle);

}  // namespace muster::webhook
