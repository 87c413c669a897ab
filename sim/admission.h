// The manager's webhooks in the simulation: the same functions, over a view of the model API server. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "sim/api_server.h"
#include "webhook/options.h"

namespace muster::sim {

// The object as it is to be created; kInvalid for one that is refused.
Result<api::Json> admit(const ApiServer& server, const ResourceKind& kind, api::Json object,
                        const webhook::Options& options);

}  // namespace muster::sim
