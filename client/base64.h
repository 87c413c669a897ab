// Standard base64 (RFC 4648 §4), as kubeconfig files and Secrets carry it. Pure.
#pragma once

#include "base/result.h"

#include <string>
#include <string_view>

namespace muster::client {

// White space between characters is skipped; kInvalid for anything else that does not belong.
Result<std::string> decode_base64(std::string_view text);

}  // namespace muster::client
