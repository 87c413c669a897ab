// The patch types of the Kubernetes API, applied to whole objects. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace muster::sim {

// `content_type` as the request gives it. kInvalid for a patch that cannot be read or does not apply.
//  merge:     RFC 7396
//  json:      RFC 6902
//  strategic: like merge, but lists of conditions merge by type (the only list Muster patches so)
//  apply:     server-side apply by the one owner of what it sends: each member of `spec` and each whole `status` given
//             replaces what is there, labels and annotations given are set
Result<api::Json> apply_patch(std::string_view content_type, const api::Json& object, const std::string& body);

}  // namespace muster::sim
