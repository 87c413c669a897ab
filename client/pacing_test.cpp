#include "client/pacing.h"

#include <gtest/gtest.h>

namespace muster::client {
namespace {

TEST(Backoff, DoublesUpToItsLimit) {
  Backoff backoff({.first = Duration(800), .max = Duration(30'000)});
  std::vector<Duration::rep> waits;
  for (int i = 0; i < 8; ++i) {
    waits.push_back(backoff.next(0).count());
  }
  EXPECT_EQ(waits, (std::vector<Duration::rep>{800, 1600, 3200, 6400, 12800, 20000, 20000, 20000}));
  backoff.reset();
  EXPECT_EQ(backoff.next(0), Duration(800));
}

TEST(Backoff, JitterNeverExceedsTheLimit) {
  Backoff backoff({.first = Duration(800), .max = Duration(30'000)});
  EXPECT_EQ(backoff.next(0.5), Duration(1000));
  for (int i = 0; i < 10; ++i) {
    EXPECT_LE(backoff.next(0.999), Duration(30'000));
  }
}

TEST(Backoff, OfZeroDoesNotWait) {
  Backoff backoff({.first = Duration(0), .max = Duration(0)});
  EXPECT_EQ(backoff.next(0.9), Duration(0));
}

TEST(TokenBucket, SpendsTheBurstThenTheRate) {
  TokenBucket bucket({.per_second = 10, .burst = 2});
  const MonoTime start{Duration(1'000'000)};
  EXPECT_EQ(bucket.reserve(start), Duration(0));
  EXPECT_EQ(bucket.reserve(start), Duration(0));
  EXPECT_EQ(bucket.reserve(start), Duration(101));  // rounded up
  EXPECT_EQ(bucket.reserve(start), Duration(201));
  EXPECT_EQ(bucket.reserve(start + Duration(300)), Duration(0));
}

TEST(TokenBucket, SavesNoMoreThanItsBurst) {
  TokenBucket bucket({.per_second = 10, .burst = 2});
  const MonoTime later{Duration(100'000'000)};
  EXPECT_EQ(bucket.reserve(later), Duration(0));
  EXPECT_EQ(bucket.reserve(later), Duration(0));
  EXPECT_GT(bucket.reserve(later), Duration(0));
}

TEST(TokenBucket, WithoutRateNeverWaits) {
  TokenBucket bucket({.per_second = -1, .burst = 1});
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(bucket.reserve(MonoTime()), Duration(0));
  }
}

}  // namespace
}  // namespace muster::client
