#include "client/event_queue.h"

#include <gtest/gtest.h>

#include <thread>

namespace muster::client {
namespace {

using framework::EffectDone;
using framework::Event;

std::vector<framework::EffectId> ids(const std::vector<Event>& events) {
  std::vector<framework::EffectId> result;
  for (const Event& event : events) {
    result.push_back(std::get<EffectDone>(event).id);
  }
  return result;
}

bool push(EventQueue& queue, framework::EffectId id, Duration limit = std::chrono::seconds(10)) {
  return queue.push(EffectDone{.id = id}, std::stop_token(), limit);
}

TEST(EventQueue, GivesBatchesInOrder) {
  EventQueue queue;
  for (framework::EffectId id = 1; id <= 5; ++id) {
    EXPECT_TRUE(push(queue, id));
  }
  EXPECT_EQ(ids(queue.pop_batch(3, Duration(0))), (std::vector<framework::EffectId>{1, 2, 3}));
  EXPECT_EQ(ids(queue.pop_batch(3, Duration(0))), (std::vector<framework::EffectId>{4, 5}));
  EXPECT_TRUE(queue.pop_batch(3, Duration(0)).empty());
}

TEST(EventQueue, FullMeansWait) {
  EventQueue queue(1);
  EXPECT_TRUE(push(queue, 1));
  EXPECT_FALSE(push(queue, 2, Duration(1)));
  std::jthread pusher([&] { push(queue, 3); });
  EXPECT_EQ(ids(queue.pop_batch(1, std::chrono::seconds(10))), (std::vector<framework::EffectId>{1}));
  EXPECT_EQ(ids(queue.pop_batch(1, std::chrono::seconds(10))), (std::vector<framework::EffectId>{3}));
}

TEST(EventQueue, StopEndsAWaitingPush) {
  EventQueue queue(1);
  EXPECT_TRUE(push(queue, 1));
  bool taken = true;
  {
    std::jthread pusher([&](const std::stop_token& stop) { taken = queue.push(EffectDone{.id = 2}, stop); });
  }  // requests the stop and joins
  EXPECT_FALSE(taken);
}

TEST(EventQueue, CloseEndsEverythingButPopping) {
  EventQueue queue(1);
  EXPECT_TRUE(push(queue, 1));
  std::jthread pusher([&] { EXPECT_FALSE(push(queue, 2)); });
  queue.close();
  pusher.join();
  EXPECT_FALSE(push(queue, 3));
  EXPECT_EQ(queue.pop_batch(8, std::chrono::hours(1)).size(), 1U);
  EXPECT_TRUE(queue.pop_batch(8, std::chrono::hours(1)).empty());
}

TEST(EventQueue, WakeEndsAWaitOnce) {
  EventQueue queue;
  queue.wake();
  EXPECT_TRUE(queue.pop_batch(8, std::chrono::hours(1)).empty());
  std::jthread waker([&] { queue.wake(); });
  EXPECT_TRUE(queue.pop_batch(8, std::chrono::hours(1)).empty());
}

}  // namespace
}  // namespace muster::client
