// Observed objects as JSON and back, exactly: the wire form (api/codec/encode.h), and beside it what that cannot say of
// a reduced object (hashes of containers, unsupported fields, fractions of seconds). Pure.
#pragma once

#include "api/codec/json.h"
#include "api/kueue/workload.h"
#include "framework/events.h"

#include <memory>

namespace muster::cmd {

// {"change": "upserted", "kind": "Workload", "object": {…}, "kept": {…}}
api::Json encode_event(const framework::ObjectEvent& event);
Result<framework::ObjectEvent> decode_event(const api::Json& json);

// {"object": {…}, "kept": {…}}
api::Json encode_exactly(const api::Workload& workload);
Result<std::shared_ptr<const api::Workload>> decode_workload(const api::Json& json);

}  // namespace muster::cmd
