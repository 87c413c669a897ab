#include "api/kueue/workload.h"

#include "api/constants.h"
#include "api/testing/builders.h"

#include <gtest/gtest.h>

namespace muster::api {
namespace {

using testing::a_condition;
using testing::a_workload;
using testing::at;

struct QueueableCase {
  std::string name{};
  Workload workload{};
  bool want = false;
};

class Queueable : public ::testing::TestWithParam<QueueableCase> {};

TEST_P(Queueable, FollowsAdmission13) {
  EXPECT_EQ(is_queueable(GetParam().workload), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, Queueable,
    ::testing::Values(
        QueueableCase{"plain", a_workload("ns", "w"), true},
        QueueableCase{"gated", a_workload("ns", "w").annotation(kAdmissionGatedByAnnotation, "a.io/b"), false},
        QueueableCase{"empty_gate", a_workload("ns", "w").annotation(kAdmissionGatedByAnnotation, ""), true},
        QueueableCase{"finished", a_workload("ns", "w").finished(), false},
        QueueableCase{"inactive", a_workload("ns", "w").inactive(), false},
        QueueableCase{"reserved", a_workload("ns", "w").reserved("cq", "f"), false},
        QueueableCase{"evicted", a_workload("ns", "w").evicted("Preempted"), true},
        QueueableCase{"on_hold",
                      a_workload("ns", "w").condition(a_condition(kQuotaReserved, ConditionStatus::kFalse, "OnHold")),
                      false},
        QueueableCase{"pending",
                      a_workload("ns", "w").condition(a_condition(kQuotaReserved, ConditionStatus::kFalse, "Pending")),
                      true},
        QueueableCase{
            "waits_for_replacements",
            a_workload("ns", "w").condition(a_condition("WaitingForReplacementPods", ConditionStatus::kTrue, "Pods")),
            false}),
    [](const auto& row) { return row.param.name; });

struct BackoffCase {
  std::string name{};
  Workload workload{};
  bool want = false;
};

class Backoff : public ::testing::TestWithParam<BackoffCase> {};

TEST_P(Backoff, FollowsAdmission14) {
  EXPECT_EQ(backoff_expired(GetParam().workload, at(100)), GetParam().want);
}

Condition requeued(ConditionStatus status) {
  return a_condition(kRequeued, status, "Preempted");
}

INSTANTIATE_TEST_SUITE_P(
    Table, Backoff,
    ::testing::Values(
        BackoffCase{"none", a_workload("ns", "w"), true},
        BackoffCase{"requeued_false", a_workload("ns", "w").condition(requeued(ConditionStatus::kFalse)), false},
        BackoffCase{"requeued_true", a_workload("ns", "w").condition(requeued(ConditionStatus::kTrue)), true},
        BackoffCase{"requeued_unknown", a_workload("ns", "w").condition(requeued(ConditionStatus::kUnknown)), true},
        BackoffCase{"no_time", a_workload("ns", "w").requeue_at(2, std::nullopt), true},
        BackoffCase{"future", a_workload("ns", "w").requeue_at(1, at(101)), false},
        BackoffCase{"now", a_workload("ns", "w").requeue_at(1, at(100)), true},
        BackoffCase{"past_but_requeued_false",
                    a_workload("ns", "w").requeue_at(1, at(1)).condition(requeued(ConditionStatus::kFalse)), false}),
    [](const auto& row) { return row.param.name; });

struct OrderCase {
  std::string name{};
  Workload workload{};
  TimePoint want{};
};

class QueueOrder : public ::testing::TestWithParam<OrderCase> {};

TEST_P(QueueOrder, FollowsAdmission12) {
  EXPECT_EQ(queue_order_time(GetParam().workload), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, QueueOrder,
    ::testing::Values(
        OrderCase{"created", a_workload("ns", "w").created(at(5)), at(5)},
        OrderCase{"pods_ready_timeout", a_workload("ns", "w").created(at(5)).evicted("PodsReadyTimeout", at(50)),
                  at(50)},
        OrderCase{"admission_check", a_workload("ns", "w").created(at(5)).evicted("AdmissionCheck", at(60)), at(60)},
        OrderCase{"preempted_keeps_its_place", a_workload("ns", "w").created(at(5)).evicted("Preempted", at(50)),
                  at(5)},
        OrderCase{"no_longer_evicted",
                  a_workload("ns", "w").created(at(5)).condition(a_condition(kEvicted, ConditionStatus::kFalse,
                                                                             "PodsReadyTimeout", at(50))),
                  at(5)}),
    [](const auto& row) { return row.param.name; });

TEST(Workloads, ReadTheirConditions) {
  const Workload admitted = a_workload("ns", "w").request("cpu", "1").admitted("cq", "f").evicted("Preempted");
  EXPECT_TRUE(has_quota_reservation(admitted));
  EXPECT_TRUE(is_admitted(admitted));
  EXPECT_TRUE(is_evicted(admitted));
  EXPECT_FALSE(is_finished(admitted));
  EXPECT_EQ(admission_gate(admitted), nullptr);
}

TEST(Workloads, PriorityDefaultsToZero) {
  EXPECT_EQ(effective_priority(a_workload("ns", "w")), 0);
  EXPECT_EQ(effective_priority(a_workload("ns", "w").priority(-7)), -7);
}

}  // namespace
}  // namespace muster::api
