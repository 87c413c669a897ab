#include "net/beast/registry.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace muster::net::beast {
namespace {

class FakeConnection : public Connection {
 public:
  int closed = 0;
  int closed_if_idle = 0;

  void close_now() override { ++closed; }

  void close_if_idle() override { ++closed_if_idle; }
};

class RegistryTest : public ::testing::Test {
 protected:
  FakeConnection& add() {
    FakeConnection& made = *connections_.emplace_back(std::make_shared<FakeConnection>());
    registry_.add(made, connections_.back());
    return made;
  }

  int rooms_ = 0;
  Registry registry_{2, 100, [this] { ++rooms_; }};
  std::vector<std::shared_ptr<FakeConnection>> connections_{};
};

TEST_F(RegistryTest, ShedsTheLongestWaitingAboveTheLimit) {
  FakeConnection& first = add();
  FakeConnection& second = add();
  EXPECT_TRUE(registry_.make_room());
  EXPECT_EQ(first.closed, 0);
  FakeConnection& third = add();
  EXPECT_TRUE(registry_.make_room());
  EXPECT_EQ(first.closed, 1);
  EXPECT_TRUE(registry_.make_room()) << "one on its way out is not counted";
  EXPECT_EQ(first.closed + second.closed + third.closed, 1);
}

TEST_F(RegistryTest, NeverShedsABusyOne) {
  FakeConnection& first = add();
  FakeConnection& second = add();
  FakeConnection& third = add();
  for (FakeConnection* connection : {&first, &second, &third}) {
    registry_.set_busy(*connection);
  }
  EXPECT_FALSE(registry_.make_room());
  registry_.shed(10);
  EXPECT_EQ(first.closed + second.closed + third.closed, 0);
  EXPECT_EQ(rooms_, 0);
  registry_.set_waiting(second);
  EXPECT_EQ(rooms_, 1);
  EXPECT_TRUE(registry_.make_room());
  EXPECT_EQ(second.closed, 1);
}

TEST_F(RegistryTest, AFinishedRequestWaitsAtTheEndOfTheLine) {
  FakeConnection& first = add();
  FakeConnection& second = add();
  registry_.set_busy(first);
  registry_.set_waiting(first);
  add();
  EXPECT_TRUE(registry_.make_room());
  EXPECT_EQ(first.closed, 0);
  EXPECT_EQ(second.closed, 1);
}

TEST_F(RegistryTest, RemovalMakesRoomInEveryState) {
  FakeConnection& waiting = add();
  FakeConnection& busy = add();
  FakeConnection& shed = add();
  registry_.set_busy(busy);
  registry_.set_busy(shed);
  registry_.set_waiting(shed);
  registry_.shed(2);
  rooms_ = 0;
  for (FakeConnection* connection : {&waiting, &busy, &shed}) {
    EXPECT_FALSE(registry_.wait_empty(std::chrono::milliseconds(0)));
    registry_.remove(*connection);
    registry_.remove(*connection);  // a second time changes nothing
  }
  EXPECT_EQ(rooms_, 3);
  EXPECT_TRUE(registry_.wait_empty(std::chrono::milliseconds(0)));
  add();
  add();
  EXPECT_TRUE(registry_.make_room());
  EXPECT_EQ(connections_.back()->closed, 0) << "the count is right again";
}

TEST_F(RegistryTest, TellsAllWhenDrainingAndClosing) {
  FakeConnection& first = add();
  FakeConnection& second = add();
  registry_.set_busy(second);
  EXPECT_FALSE(registry_.draining());
  registry_.drain();
  EXPECT_TRUE(registry_.draining());
  EXPECT_EQ(first.closed_if_idle + second.closed_if_idle, 2);
  registry_.close_all();
  EXPECT_EQ(first.closed + second.closed, 2);
}

TEST_F(RegistryTest, BudgetsBodies) {
  EXPECT_TRUE(registry_.take_body_bytes(60));
  EXPECT_FALSE(registry_.take_body_bytes(41));
  EXPECT_TRUE(registry_.take_body_bytes(40));
  registry_.give_body_bytes(100);
  EXPECT_TRUE(registry_.take_body_bytes(100));
  EXPECT_FALSE(registry_.take_body_bytes(1));
}

}  // namespace
}  // namespace muster::net::beast
