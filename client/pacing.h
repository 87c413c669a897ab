// How fast to go: exponential backoff with jitter, and a token bucket. Pure values; time and randomness are arguments.
// Not thread-safe.
#pragma once

#include "client/clock.h"

#include <algorithm>

namespace muster::client {

struct BackoffLimits {
  Duration first{800};
  Duration max{30'000};
};

// Doubles from `first`; every wait is stretched by up to a half, and none exceeds `max`.
class Backoff {
 public:
  explicit Backoff(BackoffLimits limits = {}) : limits_(limits), base_(limits.first) {}

  // `unit` is a random number of [0, 1).
  Duration next(double unit) {
    const Duration base = std::min(base_, limits_.max * 2 / 3);
    base_ = std::min(base_ * 2, limits_.max);
    return base + Duration(static_cast<Duration::rep>(static_cast<double>(base.count()) * unit / 2));
  }

  void reset() { base_ = limits_.first; }

 private:
  BackoffLimits limits_;
  Duration base_;
};

struct RateLimit {
  double per_second = 0;  // zero or less: no limit
  double burst = 1;
};

// Tokens may be taken ahead of time: the caller waits for its own, so that nobody is overtaken.
class TokenBucket {
 public:
  explicit TokenBucket(RateLimit limit) : limit_(limit), tokens_(limit.burst) {}

  // Takes one token and returns how long to wait until it is there.
  Duration reserve(MonoTime now) {
    if (limit_.per_second <= 0) {
      return Duration::zero();
    }
    refill(now);
    tokens_ -= 1;
    if (tokens_ >= 0) {
      return Duration::zero();
    }
    return Duration(static_cast<Duration::rep>(-tokens_ / limit_.per_second * 1000) + 1);
  }

 private:
  void refill(MonoTime now) {
    if (now > last_) {
      const double seconds = static_cast<double>((now - last_).count()) / 1000;
      tokens_ = std::min(limit_.burst, tokens_ + seconds * limit_.per_second);
      last_ = now;
    }
  }

  RateLimit limit_;
  double tokens_;
  MonoTime last_{};
};

}  // namespace muster::client
