// Places of LocalQueues in the order of a ClusterQueue (admission fair sharing).
#include <gtest/gtest.h>

#include "api/testing/builders.h"
#include "framework/queue/queue.h"
#include "framework/totals.h"

namespace muster::framework {
namespace {

using api::testing::a_workload;

class Counting final : public QueueSort {
 public:
  mutable std::int64_t asked = 0;

  bool less(const WorkloadInfo& a, const WorkloadInfo& b) const override {
    ++asked;
    return a.priority != b.priority ? a.priority > b.priority : a.uid() < b.uid();
  }

  bool entry_less(const Entry& a, const Entry& b) const override { return less(*a.workload, *b.workload); }
};

const ClusterQueueName kQueue("q");

class QueuePlaceTest : public ::testing::Test {
 protected:
  QueuePlaceTest() { queue_.set_cluster_queue(kQueue, api::QueueingStrategy::kBestEffortFifo, true); }

  void push(const std::string& name, int priority, const std::string& local_queue) {
    auto workload = a_workload("ns", name).queue(local_queue).priority(priority).request("cpu", "1");
    WorkloadInfo info = build_info(std::make_shared<const api::Workload>(workload.obj()), kQueue, objects_, {});
    info.queue_place = &places_[local_queue];
    info.class_id += std::hash<std::string>()(local_queue);
    queue_.push(std::move(info));
  }

  void set_place(const std::string& local_queue, Wide place) {
    places_[local_queue] = place;
    queue_.place_changed(kQueue);
  }

  std::string head() const {
    const auto heads = queue_.heads();
    return heads.empty() ? "" : heads.front()->key.name;
  }

  Counting sort_{};
  Objects objects_{};
  std::map<std::string, Wide> places_{};
  Queue queue_{sort_};
};

TEST_F(QueuePlaceTest, Case23_LessUsageGoesFirstThenPriorityAndWeightZeroLast) {
  push("of-a", 9, "a");
  push("of-b", 1, "b");
  push("of-z", 99, "z");
  set_place("z", kLastPlace);
  set_place("a", 5);
  set_place("b", 1);
  EXPECT_EQ(head(), "of-b");
  std::string order;
  for (const WorkloadInfo* info : queue_.in_order(kQueue)) {
    order += info->key.name + " ";
  }
  EXPECT_EQ(order, "of-b of-a of-z ");
  set_place("b", 5);
  EXPECT_EQ(head(), "of-a");
  queue_.remove({"ns", "of-a"});
  queue_.remove({"ns", "of-b"});
  EXPECT_EQ(head(), "of-z");
}

TEST_F(QueuePlaceTest, UsageOutranksAPreemptorThatWaits) {
  push("preemptor", 1, "a");
  push("same-queue", 9, "a");
  queue_.block({"ns", "preemptor"}, {.reason = "WaitingForPreemptedWorkloads"});
  EXPECT_EQ(head(), "");
  push("other-queue", 0, "b");
  EXPECT_EQ(head(), "");  // no less
  set_place("a", 1);
  EXPECT_EQ(head(), "other-queue");
}

TEST_F(QueuePlaceTest, AStrictQueueIsBlockedByWhoeverComesFirstNow) {
  queue_.set_cluster_queue(kQueue, api::QueueingStrategy::kStrictFifo, true);
  push("of-a", 9, "a");
  push("of-b", 1, "b");
  queue_.park({"ns", "of-a"}, {.reason = "WaitingForQuota"});
  EXPECT_EQ(head(), "");
  set_place("a", 1);
  EXPECT_EQ(head(), "of-b");
}

TEST_F(QueuePlaceTest, AChangedPlaceSortsNobodyAnew) {
  for (int i = 0; i < 100'000; ++i) {
    push("w" + std::to_string(i), i % 7, i % 2 == 0 ? "a" : "b");
  }
  sort_.asked = 0;
  for (int i = 1; i <= 100; ++i) {
    set_place("a", i % 2);
    set_place("b", (i + 1) % 2);
    EXPECT_FALSE(head().empty());
  }
  EXPECT_LE(sort_.asked, 400);  // the first of each LocalQueue, no more
}

}  // namespace
}  // namespace muster::framework
