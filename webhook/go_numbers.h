// Numbers in labels and annotations, read as Go's strconv reads them and with its complaints, which users know.
// Internal to webhook/. Pure.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::webhook {

// Decimal, an optional sign. kInvalid with the text `strconv.Atoi: parsing "x": invalid syntax`.
Result<std::int64_t> parse_go_int(std::string_view text);
// 1, t, T, true, TRUE, True and their opposites. kInvalid with the text `strconv.ParseBool: parsing "x": …`.
Result<bool> parse_go_bool(std::string_view text);

}  // namespace muster::webhook
