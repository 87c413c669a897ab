// A generator whose numbers are the same on every machine and library (splitmix64).
#pragma once

#include <cstdint>

namespace muster::sim::reference {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }

  // 0 .. limit-1
  int below(int limit) { return static_cast<int>(next() % static_cast<std::uint64_t>(limit)); }

  // low .. high
  int between(int low, int high) { return low + below(high - low + 1); }

  bool chance(int percent) { return below(100) < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace muster::sim::reference
