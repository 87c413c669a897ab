#include "framework/queue/queue.h"

#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "framework/totals.h"

namespace muster::framework {
namespace {

using api::testing::a_workload;
using api::testing::at;

// Priority, then time, then uid.
class ByPriority final : public QueueSort {
 public:
  bool less(const WorkloadInfo& a, const WorkloadInfo& b) const override {
    return std::make_tuple(-a.priority, a.queue_time, a.uid()) < std::make_tuple(-b.priority, b.queue_time, b.uid());
  }
  bool entry_less(const Entry& a, const Entry& b) const override { return less(*a.workload, *b.workload); }
};

const ClusterQueueName kQueue("q");
const Wake kQuota{WakeKind::kQuota, "cq/q"};

ParkedReason lacks_quota() { return {.plugin = "P", .reason = "WaitingForQuota", .message = "no room", .wakes = {kQuota}}; }

class QueueTest : public ::testing::Test {
 protected:
  QueueTest() { queue_.set_cluster_queue(kQueue, api::QueueingStrategy::kBestEffortFifo, true); }

  void push(const std::string& name, int priority, const std::string& cpu, int created = 0) {
    auto workload = a_workload("ns", name).queue("lq").priority(priority).created(at(created)).request("cpu", cpu);
    queue_.push(build_info(std::make_shared<const api::Workload>(workload.obj()), kQueue, objects_, {}));
  }

  std::string head() const {
    const auto heads = queue_.heads();
    return heads.empty() ? "" : heads.front()->key.name;
  }

  void strict() { queue_.set_cluster_queue(kQueue, api::QueueingStrategy::kStrictFifo, true); }

  ByPriority sort_{};
  Objects objects_{};
  Queue queue_{sort_};
};

TEST_F(QueueTest, HeadIsHighestPriorityThenOldest) {
  push("low", 1, "1");
  push("late", 5, "1", 20);
  push("early", 5, "1", 10);
  EXPECT_EQ(head(), "early");
  queue_.remove({"ns", "early"});
  EXPECT_EQ(head(), "late");
}

TEST_F(QueueTest, ParkingAClassParksAllOfItAndOnlyIt) {
  push("a1", 5, "4", 1);
  push("a2", 5, "4", 2);
  push("b", 1, "1", 3);
  queue_.park({"ns", "a1"}, lacks_quota());
  EXPECT_EQ(head(), "b");
  EXPECT_EQ(queue_.reason({"ns", "a2"})->reason, "WaitingForQuota");
  EXPECT_EQ(queue_.pending(kQueue).active, 1);
  EXPECT_EQ(queue_.pending(kQueue).inadmissible, 2);
}

TEST_F(QueueTest, ANewcomerJoinsItsParkedClassUntried) {
  push("a1", 5, "4");
  queue_.park({"ns", "a1"}, lacks_quota());
  push("a2", 5, "4", 1);
  EXPECT_EQ(head(), "");
  EXPECT_EQ(queue_.wake(kQuota), 1u);
  EXPECT_EQ(head(), "a1");
}

TEST_F(QueueTest, OnlyTheNamedWakeBringsAClassBack) {
  push("a", 5, "4");
  queue_.park({"ns", "a"}, lacks_quota());
  EXPECT_EQ(queue_.wake({WakeKind::kQuota, "cq/other"}), 0u);
  EXPECT_EQ(queue_.wake({WakeKind::kNodes, ""}), 0u);
  EXPECT_EQ(head(), "");
  EXPECT_EQ(queue_.wake(kQuota), 1u);
  EXPECT_EQ(queue_.wake(kQuota), 0u);
}

TEST_F(QueueTest, StrictFifoBlocksBehindItsHead) {
  strict();
  push("first", 5, "4", 1);
  push("second", 5, "1", 2);
  queue_.park({"ns", "first"}, lacks_quota());
  EXPECT_EQ(head(), "");
  EXPECT_EQ(queue_.reason({"ns", "second"})->message, "Waiting behind ns/first at the head of ClusterQueue q");
  push("better", 9, "1", 3);
  EXPECT_EQ(head(), "better");
}

TEST_F(QueueTest, StrictFifoGoesOnWhenTheHeadLeaves) {
  strict();
  push("first", 5, "4", 1);
  push("second", 5, "1", 2);
  queue_.park({"ns", "first"}, lacks_quota());
  queue_.remove({"ns", "first"});
  EXPECT_EQ(head(), "second");
}

TEST_F(QueueTest, Case9_APreemptorKeepsItsPlaceAgainstBetterArrivals) {
  push("preemptor", 5, "4", 1);
  queue_.block({"ns", "preemptor"}, lacks_quota());
  push("better", 9, "1", 3);
  EXPECT_EQ(head(), "");
  queue_.wake(kQuota);
  EXPECT_EQ(head(), "preemptor");
  EXPECT_EQ(queue_.in_order(kQueue).front()->key.name, "preemptor");
}

TEST_F(QueueTest, Case9_InStrictFifoABetterArrivalGoesBeforeThePreemptor) {
  strict();
  push("preemptor", 5, "4", 1);
  queue_.block({"ns", "preemptor"}, lacks_quota());
  EXPECT_EQ(head(), "");
  push("better", 9, "1", 3);
  EXPECT_EQ(head(), "better");
}

TEST_F(QueueTest, Case10_WithoutTheStickyPreemptorTheOrderIsTheUsualOneAtOnce) {
  push("preemptor", 5, "4", 1);
  queue_.block({"ns", "preemptor"}, lacks_quota());
  push("better", 9, "1", 3);
  queue_.remove({"ns", "preemptor"});
  EXPECT_EQ(head(), "better");
}

TEST_F(QueueTest, AStickyPreemptorThatIsParkedHoldsNobodyUp) {
  push("preemptor", 5, "4", 1);
  queue_.block({"ns", "preemptor"}, lacks_quota());
  push("other", 1, "1", 3);
  queue_.wake(kQuota);
  queue_.park({"ns", "preemptor"}, lacks_quota());
  EXPECT_EQ(head(), "other");
  queue_.wake(kQuota);
  EXPECT_EQ(head(), "preemptor");
}

TEST_F(QueueTest, TheLastToPreemptIsTheStickyOne) {
  push("first", 5, "4", 1);
  push("second", 5, "2", 2);
  queue_.block({"ns", "first"}, lacks_quota());
  queue_.wake(kQuota);
  queue_.park({"ns", "first"}, lacks_quota());
  queue_.block({"ns", "second"}, lacks_quota());
  queue_.wake(kQuota);
  EXPECT_EQ(head(), "second");
}

TEST_F(QueueTest, ParkedAloneLeavesTheClassRunning) {
  push("gated", 5, "4", 1);
  push("same", 5, "4", 2);
  queue_.park_alone({"ns", "gated"}, {.reason = "AdmissionGated", .wakes = {{WakeKind::kWorkload, "ns/gated"}}});
  EXPECT_EQ(head(), "same");
  queue_.wake({WakeKind::kWorkload, "ns/gated"});
  EXPECT_EQ(head(), "gated");
}

TEST_F(QueueTest, AnInactiveQueueHasNoHeadAndCountsAllAsInadmissible) {
  push("a", 5, "4");
  queue_.set_cluster_queue(kQueue, api::QueueingStrategy::kBestEffortFifo, false);
  EXPECT_EQ(head(), "");
  EXPECT_EQ(queue_.pending(kQueue).inadmissible, 1);
}

TEST_F(QueueTest, AnEditedWorkloadIsTriedAgain) {
  push("a", 5, "4");
  queue_.park({"ns", "a"}, lacks_quota());
  push("a", 5, "2");  // smaller now: another class
  EXPECT_EQ(head(), "a");
  EXPECT_EQ(queue_.size(), 1u);
  EXPECT_EQ(queue_.wake(kQuota), 0u);  // nobody sleeps any more
}

TEST_F(QueueTest, OrderListsEverybodyOnce) {
  push("c", 1, "1");
  push("a", 9, "4");
  push("b", 5, "2");
  queue_.park({"ns", "a"}, lacks_quota());
  queue_.park_alone({"ns", "b"}, lacks_quota());
  std::string order;
  for (const WorkloadInfo* info : queue_.in_order(kQueue)) {
    order += info->key.name;
  }
  EXPECT_EQ(order, "abc");
  EXPECT_EQ(queue_.pending_in({"ns", "lq"}).total(), 3);
}

std::shared_ptr<const ScanProgress> stopped_at_the_first() {
  return std::make_shared<const ScanProgress>(ScanProgress{.tried = {{{"main", "cpu"}, 0}}});
}

TEST_F(QueueTest, ProgressBelongsToOneWorkloadNotToItsClass) {
  push("a1", 5, "4", 1);
  push("a2", 5, "4", 2);
  queue_.set_progress({"ns", "a1"}, stopped_at_the_first());
  ASSERT_NE(queue_.find({"ns", "a1"})->progress, nullptr);
  EXPECT_EQ(queue_.find({"ns", "a1"})->progress->next("main", "cpu"), 1);
  EXPECT_EQ(queue_.find({"ns", "a2"})->progress, nullptr);
}

TEST_F(QueueTest, ProgressOutlivesAnUpdateThatChangesNothingAndNotOneThatDoes) {
  push("a", 5, "4");
  queue_.set_progress({"ns", "a"}, stopped_at_the_first());
  push("a", 5, "4");
  EXPECT_NE(queue_.find({"ns", "a"})->progress, nullptr);
  push("a", 5, "3");
  EXPECT_EQ(queue_.find({"ns", "a"})->progress, nullptr);
}

TEST_F(QueueTest, Case20_ProgressIsLostWithTheQueue) {
  push("a", 5, "4");
  queue_.set_progress({"ns", "a"}, stopped_at_the_first());
  auto moved = a_workload("ns", "a").queue("lq").priority(5).created(at(0)).request("cpu", "4");
  queue_.push(build_info(std::make_shared<const api::Workload>(moved.obj()), ClusterQueueName("r"), objects_, {}));
  EXPECT_EQ(queue_.find({"ns", "a"})->progress, nullptr);
}

TEST_F(QueueTest, EveryWakeBeginsAnEpoch) {
  const std::uint64_t before = queue_.epoch();
  queue_.wake({WakeKind::kQuota, "cq/nobody-sleeps-here"});
  EXPECT_EQ(queue_.epoch(), before + 1);
}

TEST(ScanProgress, IsPendingUntilEveryListIsExhausted) {
  ScanProgress progress{.tried = {{{"a", "cpu"}, ScanProgress::kExhausted}, {{"a", "gpu"}, 2}}};
  EXPECT_TRUE(progress.pending());
  EXPECT_EQ(progress.next("a", "cpu"), 0);
  EXPECT_EQ(progress.next("a", "gpu"), 3);
  EXPECT_EQ(progress.next("b", "cpu"), 0);
  progress.tried[{"a", "gpu"}] = ScanProgress::kExhausted;
  EXPECT_FALSE(progress.pending());
  EXPECT_FALSE(ScanProgress{}.pending());
}

}  // namespace
}  // namespace muster::framework
