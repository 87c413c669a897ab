#include "api/codec/encode.h"
#include "api/constants.h"
#include "api/testing/builders.h"
#include "api/validation/validate.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

using testing::a_workload;

struct Case {
  std::string name{};
  Json now{};
  Json old{};  // null: create
  std::string want{};
};

std::string row_name(const ::testing::TestParamInfo<Case>& row) {
  return row.param.name;
}

Json json(const testing::WorkloadBuilder& builder) {
  return encode(builder.obj());
}

Json with(Json object, const char* pointer, Json value) {
  object[Json::json_pointer(pointer)] = std::move(value);
  return object;
}

Json plain() {
  return json(a_workload("ns", "w").queue("q").count(3).request("cpu", "1"));
}

Json reserved() {
  return json(a_workload("ns", "w").queue("q").count(3).request("cpu", "1").reserved("cq", "f"));
}

Json reserved_with_reclaimable(std::int32_t count) {
  return json(
      a_workload("ns", "w").queue("q").count(3).request("cpu", "1").reserved("cq", "f").reclaimable("main", count));
}

class WorkloadRules : public ::testing::TestWithParam<Case> {};

TEST_P(WorkloadRules, ReportEveryError) {
  const Json& old = GetParam().old;
  EXPECT_EQ(to_string(validate_workload(GetParam().now, old.is_null() ? nullptr : &old)), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Spec, WorkloadRules,
    ::testing::Values(
        Case{"plain", plain(), {}, ""}, Case{"empty", Json::object(), {}, ""},
        Case{"null_template", with(plain(), "/spec/podSets/0/template", nullptr), {}, ""},
        Case{
            "pods_resource",
            json(a_workload("ns", "w").request("pods", "1")),
            {},
            "spec.podSets[0].template.spec.containers[0].resources.requests[pods]: Invalid value: \"pods\": the key is "
            "reserved for internal kueue use"},
        Case{"negative",
             with(plain(), "/spec/podSets/0/template/spec/containers/0/resources/requests/cpu", "-1m"),
             {},
             "spec.podSets[0].template.spec.containers[0].resources.requests[cpu]: Invalid value: \"-1m\": must be "
             "greater than or equal to 0"},
        Case{
            "negative_pod_level",
            with(plain(), "/spec/podSets/0/template/spec/resources", {{"limits", {{"cpu", -1}}}}),
            {},
            "spec.podSets[0].template.spec.resources.limits[cpu]: Invalid value: \"-1\": must be greater than or equal "
            "to 0"},
        Case{"two_min_counts",
             json(a_workload("ns", "w").pod_set("a", 2).min_count(1).pod_set("b", 2).min_count(1)),
             {},
             "spec.podSets: Invalid value: 2: at most one podSet can use minCount"},
        Case{"elastic_and_partial",
             json(a_workload("ns", "w").min_count(1).annotation("kueue.x-k8s.io/elastic-job", "true")),
             {},
             "spec.podSets: Invalid value: 1: partial admission and elastic job cannot be used together"},
        Case{"slice_size_missing",
             with(plain(), "/spec/podSets/0/topologyRequest", {{"podSetSliceRequiredTopology", "rack"}}),
             {},
             "spec.podSets[0].topologyRequest.podSetSliceSize: Required value: must be set when "
             "podSetSliceRequiredTopology is specified"},
        Case{"slice_size_alone",
             with(plain(), "/spec/podSets/0/topologyRequest", {{"podSetSliceSize", 2}}),
             {},
             "spec.podSets[0].topologyRequest.podSetSliceSize: Forbidden: may not be set when "
             "podSetSliceRequiredTopology is not specified"},
        Case{"label",
             with(plain(), "/spec/podSets/0/template/metadata", {{"labels", {{"a", "b c"}}}}),
             {},
             "spec.podSets[0].template.metadata.labels: Invalid value: \"b c\": a valid label must be an empty string "
             "or "
             "consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "
             "character "
             "(e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
             "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
        Case{"gate_added", json(a_workload("ns", "w").annotation(kAdmissionGatedByAnnotation, "a.io/x")),
             json(a_workload("ns", "w")),
             "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Forbidden: cannot add admission gate after "
             "creation"}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Status, WorkloadRules,
    ::testing::Values(
        Case{"reserved", reserved(), {}, ""},
        Case{"no_admission",
             with(reserved(), "/status/admission", nullptr),
             {},
             "status.admission: Required value: must be set while the QuotaReserved condition is true"},
        Case{"no_admission_before_either", with(reserved(), "/status/admission", nullptr),
             with(reserved(), "/status/admission", nullptr), ""},
        Case{"unknown_assignment",
             with(reserved(), "/status/admission/podSetAssignments/0/name", "x"),
             {},
             "status.admission.podSetAssignments[0].name: Not found: \"x\""},
        Case{"not_a_multiple",
             with(reserved(), "/status/admission/podSetAssignments/0/resourceUsage/cpu", "1"),
             {},
             "status.admission.podSetAssignments[0].resourceUsage[cpu]: Invalid value: \"1\": is not a multiple of 3"},
        Case{"reclaimable_unknown",
             json(a_workload("ns", "w").reclaimable("x", 1)),
             {},
             "status.reclaimablePods[x].name: Unsupported value: \"x\": supported values: \"main\""},
        Case{"reclaimable_too_many",
             json(a_workload("ns", "w").count(2).reclaimable("main", 3)),
             {},
             "status.reclaimablePods[main].count: Invalid value: 3: should be less or equal to 2"},
        Case{"update_of_unknown_pod_set",
             with(json(a_workload("ns", "w").check_state("c", CheckState::kReady)),
                  "/status/admissionChecks/0/podSetUpdates", Json::array({{{"name", "x"}}})),
             {},
             "status.admissionChecks[0].podSetUpdates[0].name: Unsupported value: \"x\": supported values: \"main\""}),
    row_name);

INSTANTIATE_TEST_SUITE_P(
    Update, WorkloadRules,
    ::testing::Values(
        Case{"pod_sets_free_while_pending", with(plain(), "/spec/podSets/0/count", 9), plain(), ""},
        Case{"same", reserved(), reserved(), ""},
        Case{"fewer_pods", with(with(reserved(), "/spec/podSets/0/count", 2), "/spec/priority", 5), reserved(), ""},
        Case{"empty_is_absent", with(reserved(), "/spec/podSets/0/template/spec/tolerations", Json::array()),
             reserved(), ""},
        Case{"reclaimable_grows", reserved_with_reclaimable(2), reserved_with_reclaimable(1), ""},
        Case{"reclaimable_shrinks", reserved_with_reclaimable(1), reserved_with_reclaimable(2),
             "status.reclaimablePods[main].count: Invalid value: 1: cannot be less than 2"},
        Case{"reclaimable_vanishes", reserved(), reserved_with_reclaimable(2),
             "status.reclaimablePods[main]: Required value: cannot be removed"},
        Case{"topology_may_come_later",
             with(reserved(), "/status/admission/podSetAssignments/0/topologyAssignment", {{"levels", {"x"}}}),
             reserved(), ""},
        Case{"reservation_may_go", plain(), reserved(), ""}),
    row_name);

struct ImmutableCase {
  std::string name{};
  Json now{};
  std::string path{};
};

class ImmutableWhileReserved : public ::testing::TestWithParam<ImmutableCase> {};

TEST_P(ImmutableWhileReserved, IsRefused) {
  const Json old = reserved();
  const FieldErrors errors = validate_workload(GetParam().now, &old);
  ASSERT_EQ(errors.size(), 1u) << to_string(errors);
  EXPECT_EQ(errors[0].path, GetParam().path);
  EXPECT_TRUE(errors[0].text.ends_with(": field is immutable")) << errors[0].text;
}

INSTANTIATE_TEST_SUITE_P(
    Table, ImmutableWhileReserved,
    ::testing::Values(
        ImmutableCase{"more_pods", with(reserved(), "/spec/podSets/0/count", 4), "spec.podSets.0"},
        ImmutableCase{"template", with(reserved(), "/spec/podSets/0/template/spec/containers/0/image", "x"),
                      "spec.podSets.0"},
        ImmutableCase{
            "fewer_pods_and_template",
            with(with(reserved(), "/spec/podSets/0/count", 2), "/spec/podSets/0/template/spec/containers/0/image", "x"),
            "spec.podSets.0"},
        ImmutableCase{"another_pod_set", with(reserved(), "/spec/podSets/1", {{"name", "x"}}), "spec.podSets"},
        ImmutableCase{"admission", with(reserved(), "/status/admission/clusterQueue", "other"), "status.admission"}),
    [](const auto& row) { return row.param.name; });

TEST(WorkloadUpdate, KeepsUpdatesOfReadyChecks) {
  const auto with_label = [](const std::string& value) {
    return with(json(a_workload("ns", "w").check_state("c", CheckState::kReady)),
                "/status/admissionChecks/0/podSetUpdates",
                Json::array({{{"name", "main"}, {"labels", {{"a", value}}}}}));
  };
  const Json old = with_label("1");
  EXPECT_TRUE(validate_workload(old, &old).empty());
  const FieldErrors errors = validate_workload(with_label("2"), &old);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].path, "status.admissionChecks[0].podSetUpdates");
}

TEST(WorkloadUpdate, PicksTheClusterFromTheNominated) {
  const Json old = with(plain(), "/status/nominatedClusterNames", {"a", "b"});
  EXPECT_TRUE(validate_workload(with(plain(), "/status/clusterName", "a"), &old).empty());
  EXPECT_EQ(to_string(validate_workload(with(plain(), "/status/clusterName", "c"), &old)),
            "status.clusterName: Invalid value: \"c\": when setting clusterName it must be one of the "
            "nominatedClusterNames");
}

TEST(WorkloadBoost, IsCheckedBehindItsGate) {
  const auto errors_of = [](const std::string& value, bool gate) {
    return validate_workload(json(a_workload("ns", "w").annotation("kueue.x-k8s.io/priority-boost", value)), nullptr,
                             {.priority_boost = gate})
        .size();
  };
  EXPECT_EQ(errors_of("x", false), 0u);
  EXPECT_EQ(errors_of("-2147483648", true), 0u);
  EXPECT_EQ(errors_of("+5", true), 0u);
  EXPECT_EQ(errors_of("2147483648", true), 1u);
  EXPECT_EQ(errors_of("", true), 1u);
  EXPECT_EQ(errors_of("1.5", true), 1u);
  EXPECT_EQ(errors_of("1k", true), 1u);
}

}  // namespace
}  // namespace muster::api
