#include "framework/transformation.h"

#include "base/quantity.h"

#include <gtest/gtest.h>

#include <vector>

namespace muster::framework {
namespace {

constexpr bool kRetain = true;
constexpr bool kReplace = false;

Wide factor(const char* text) {
  return parse_wide_nano(text).value();
}

struct Case {
  std::string name{};
  Transformations rules{};
  api::ResourceAmounts requests{};
  api::ResourceAmounts want{};
};

class TransformationTable : public ::testing::TestWithParam<Case> {};

TEST_P(TransformationTable, Transforms) {
  EXPECT_EQ(transform(GetParam().requests, GetParam().rules), GetParam().want);
}

const Transformations kOverage = {{"gpumem", {kReplace, "gpu", {{"overage", factor("1")}}}},
                                  {"gpu", {kRetain, "", {{"overage", factor("-1024")}}}}};

INSTANTIATE_TEST_SUITE_P(
    Spec, TransformationTable,
    ::testing::Values(
        Case{"no_rules", {}, {{"cpu", 1500}}, {{"cpu", 1500}}},
        Case{"no_input_matches", {{"y", {kReplace, "", {{"x", factor("2")}}}}}, {{"x", 3}}, {{"x", 3}}},
        Case{"Example_2_3_a_multiplied",
             {{"vgpucores", {kReplace, "vgpu", {{"total-cores", factor("1")}}}}},
             {{"vgpu", 2}, {"vgpucores", 20}},
             {{"total-cores", 40}, {"vgpu", 2}}},
        Case{"Example_2_3_b_overage", kOverage, {{"gpumem", 2048}, {"gpu", 2}}, {{"gpu", 2}, {"overage", 2048}}},
        Case{"Example_2_3_b_nothing_over", kOverage, {{"gpumem", 1024}, {"gpu", 2}}, {{"gpu", 2}, {"overage", 0}}},
        Case{"Example_2_3_b_negative_never_lowers_what_is_requested",
             kOverage,
             {{"gpumem", 1}, {"gpu", 2}, {"overage", 7}},
             {{"gpu", 2}, {"overage", 7}}},
        Case{"Case38_retain_and_add_to_itself", {{"x", {kRetain, "", {{"x", factor("5")}}}}}, {{"x", 1}}, {{"x", 6}}},
        Case{"Case38_negative_replacement", {{"x", {kReplace, "", {{"y", factor("-1")}}}}}, {{"x", 1}}, {{"y", 0}}},
        Case{"multiplier_not_requested", {{"x", {kReplace, "n", {{"y", factor("3")}}}}}, {{"x", 2}}, {{"y", 6}}},
        Case{"replaced_by_nothing", {{"x", {kReplace, "", {}}}}, {{"x", 2}, {"cpu", 1}}, {{"cpu", 1}}},
        Case{"input_is_its_own_multiplier", {{"x", {kReplace, "x", {{"y", factor("1")}}}}}, {{"x", 5}}, {{"y", 25}}}),
    [](const auto& row) { return row.param.name; });

INSTANTIATE_TEST_SUITE_P(
    Exact, TransformationTable,
    ::testing::Values(
        Case{"rounded_once",  // 0.4 + 0.4 of a unit is one unit, not two
             {{"a", {kReplace, "", {{"y", factor("400m")}}}}, {"b", {kReplace, "", {{"y", factor("400m")}}}}},
             {{"a", 1}, {"b", 1}},
             {{"y", 1}}},
        Case{"milli_cpu_in", {{"cpu", {kReplace, "", {{"credits", factor("3")}}}}}, {{"cpu", 500}}, {{"credits", 2}}},
        Case{"milli_cpu_out", {{"gpu", {kReplace, "", {{"cpu", factor("1.5")}}}}}, {{"gpu", 3}}, {{"cpu", 4500}}},
        Case{"cpu_times_cpu", {{"cpu", {kReplace, "cpu", {{"x", factor("1")}}}}}, {{"cpu", 1500}}, {{"x", 3}}},
        Case{"finest_factor", {{"x", {kReplace, "", {{"y", factor("1n")}}}}}, {{"x", 3'000'000'000}}, {{"y", 3}}},
        Case{"large_factor",
             {{"gpu", {kReplace, "", {{"memory", factor("100Gi")}}}}},
             {{"gpu", 3}},
             {{"memory", 322'122'547'200}}},
        Case{"largest_amount_is_exact",
             {{"x", {kReplace, "", {{"y", factor("1")}}}}},
             {{"x", kUnlimited - 1}},
             {{"y", kUnlimited - 1}}},
        Case{"saturates", {{"x", {kReplace, "", {{"y", factor("1Ei")}}}}}, {{"x", kUnlimited}}, {{"y", kUnlimited}}},
        Case{"saturates_below", {{"x", {kReplace, "", {{"y", factor("-1Ei")}}}}}, {{"x", kUnlimited}}, {{"y", 0}}},
        Case{"zero",
             {{"x", {kReplace, "z", {{"y", factor("1Ei")}}}}},
             {{"x", kUnlimited}, {"z", 0}},
             {{"y", 0}, {"z", 0}}}),
    [](const auto& row) { return row.param.name; });

}  // namespace
}  // namespace muster::framework
