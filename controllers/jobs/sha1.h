// SHA-1, for names that must equal Kueue's byte for byte (never for security). Pure.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace muster::controllers {

std::array<std::uint8_t, 20> sha1(std::string_view text);

}  // namespace muster::controllers
