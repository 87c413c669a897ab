// A small stable hash (FNV-1a, 64 bit) for comparing model states in the self-audit and in tests of rollback.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/arith.h"

namespace muster::framework {

class Hash {
 public:
  Hash& add(std::string_view text) {
    for (const char c : text) {
      mix(static_cast<unsigned char>(c));
    }
    mix(0xFFu);  // a terminator that no UTF-8 text contains
    return *this;
  }
  Hash& add(Amount value) {
    auto bits = static_cast<std::uint64_t>(value);
    for (int i = 0; i < 8; ++i, bits >>= 8) {
      mix(bits & 0xFFu);
    }
    return *this;
  }
  std::uint64_t value() const { return state_; }

 private:
  void mix(std::uint64_t byte) { state_ = (state_ ^ byte) * 1099511628211ULL; }
  std::uint64_t state_ = 14695981039346656037ULL;
};

}  // namespace muster::framework
