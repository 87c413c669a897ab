#include "base/quantity.h"

#include <gtest/gtest.h>

#include <ostream>
#include <random>

namespace muster {
namespace {

constexpr Amount kMax = kUnlimited;

std::string safe_name(std::string name) {
  for (char& c : name) {
    c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  }
  return name;
}

struct ParseCase {
  std::string name{};
  std::string resource{};
  std::string text{};
  Amount want = 0;
};

std::ostream& operator<<(std::ostream& out, const ParseCase& c) {
  return out << c.resource << " " << c.text;
}

class ParseAmount : public ::testing::TestWithParam<ParseCase> {};

TEST_P(ParseAmount, IsExactOrRoundedUp) {
  const Result<Amount> got = parse_amount(GetParam().resource, GetParam().text);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(*got, GetParam().want);
}

std::string param_name(const ::testing::TestParamInfo<ParseCase>& row) {
  return safe_name(row.param.name);
}

INSTANTIATE_TEST_SUITE_P(
    Plain, ParseAmount,
    ::testing::Values(ParseCase{"zero", "pods", "0", 0}, ParseCase{"zero_point", "pods", "0.0", 0},
                      ParseCase{"negative_zero", "pods", "-0", 0}, ParseCase{"cpu_whole", "cpu", "2", 2000},
                      ParseCase{"cpu_milli", "cpu", "1500m", 1500}, ParseCase{"cpu_fraction", "cpu", "0.5", 500},
                      ParseCase{"cpu_below_milli_rounds_up", "cpu", "0.0001", 1},
                      ParseCase{"cpu_micro", "cpu", "1500u", 2}, ParseCase{"cpu_nano", "cpu", "1n", 1},
                      ParseCase{"memory_fraction", "memory", "1.5Gi", 1610612736},
                      ParseCase{"memory_milli_rounds_up", "memory", "100m", 1},
                      ParseCase{"gpu_half_rounds_up", "nvidia.com/gpu", "0.5", 1},
                      ParseCase{"exact_milli_multiple", "memory", "128974848000m", 128974848},
                      ParseCase{"negative_rounds_away", "memory", "-0.5", -1},
                      ParseCase{"negative_cpu", "cpu", "-1", -1000}, ParseCase{"plus_sign", "pods", "+5", 5},
                      ParseCase{"point_first", "cpu", ".5", 500}, ParseCase{"point_last", "cpu", "1.", 1000},
                      ParseCase{"leading_zeros", "pods", "0010", 10},
                      ParseCase{"trailing_zeros", "cpu", "1.5000", 1500}),
    param_name);

INSTANTIATE_TEST_SUITE_P(
    Suffixes, ParseAmount,
    ::testing::Values(
        ParseCase{"k", "memory", "1k", 1000}, ParseCase{"M", "memory", "1M", 1'000'000},
        ParseCase{"G", "memory", "1G", 1'000'000'000}, ParseCase{"T", "memory", "1T", 1'000'000'000'000},
        ParseCase{"P", "memory", "1P", 1'000'000'000'000'000},
        ParseCase{"E", "memory", "1E", 1'000'000'000'000'000'000}, ParseCase{"Ki", "memory", "1Ki", 1024},
        ParseCase{"Mi", "memory", "1Mi", 1048576}, ParseCase{"Gi", "memory", "1Gi", 1073741824},
        ParseCase{"Ti", "memory", "1Ti", 1099511627776}, ParseCase{"Pi", "memory", "1Pi", 1125899906842624},
        ParseCase{"Ei", "memory", "1Ei", 1152921504606846976}, ParseCase{"exponent", "memory", "1e3", 1000},
        ParseCase{"exponent_plus", "memory", "1e+3", 1000}, ParseCase{"exponent_upper", "memory", "12E2", 1200},
        ParseCase{"exponent_negative", "cpu", "5e-1", 500}, ParseCase{"exponent_zero", "memory", "7e0", 7},
        ParseCase{"fraction_of_kibi", "memory", "0.0009765625Ki", 1},
        ParseCase{"fraction_of_exbi", "memory", "0.1Ei", 115292150460684698}),
    param_name);

INSTANTIATE_TEST_SUITE_P(Extremes, ParseAmount,
                         ::testing::Values(ParseCase{"max", "memory", "9223372036854775807", kMax},
                                           ParseCase{"max_plus_one", "memory", "9223372036854775808", kMax},
                                           ParseCase{"max_less_one", "memory", "9223372036854775806", kMax - 1},
                                           ParseCase{"just_below_max", "memory", "9223372036854775805.5", kMax - 1},
                                           ParseCase{"min", "memory", "-9223372036854775808", kMinAmount},
                                           ParseCase{"below_min", "memory", "-9223372036854775809", kMinAmount},
                                           ParseCase{"two_to_64", "memory", "18446744073709551616", kMax},
                                           ParseCase{"seven_exbi", "memory", "7Ei", 8070450532247928832},
                                           ParseCase{"eight_exbi", "memory", "8Ei", kMax},
                                           ParseCase{"cpu_saturates", "cpu", "9223372036854776", kMax},
                                           ParseCase{"huge_exponent", "memory", "1e400", kMax},
                                           ParseCase{"huge_negative_number", "memory", "-1e400", kMinAmount},
                                           ParseCase{"exponent_of_int64", "memory", "1e9223372036854775807", kMax},
                                           ParseCase{"tiny_exponent", "memory", "1e-400", 1},
                                           ParseCase{"tiny_exponent_of_int64", "cpu", "1e-9223372036854775808", 1},
                                           ParseCase{"zero_with_huge_exponent", "memory", "0e999999999", 0},
                                           ParseCase{"many_digits", "memory", std::string(500, '9'), kMax},
                                           ParseCase{"many_digits_shifted", "memory",
                                                     "1" + std::string(500, '0') + "e-500", 1},
                                           ParseCase{"many_zeros", "memory", std::string(500, '0') + "7", 7},
                                           ParseCase{"long_fraction", "memory", "1." + std::string(300, '0') + "1", 2},
                                           ParseCase{"long_zero_fraction", "memory", "1." + std::string(300, '0'), 1}),
                         param_name);

class RefusedQuantity : public ::testing::TestWithParam<std::string> {};

TEST_P(RefusedQuantity, IsAnErrorEverywhere) {
  const Result<Amount> got = parse_amount("cpu", GetParam());
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, ErrorCode::kInvalid);
  EXPECT_FALSE(parse_quota("memory", GetParam()).ok());
  EXPECT_FALSE(parse_milli(GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(Table, RefusedQuantity,
                         ::testing::Values("", " ", "1 ", " 1", "1 Gi", "\t1", "abc", "1x", "1mi", "1ki", "1i", "1Kim",
                                           "1KI", "--1", "+-1", "1.1.1", ".", "-", "+", "m", "Gi", "1e", "1E+", "1e3.5",
                                           "1e3Ki", "1e 3", "1e+-3", "1_000", "0x10", "1,5", "Inf", "NaN", "1Gi2",
                                           "1e99999999999999999999", std::string("1\0", 2), "\xC2\xB5", "½"));

struct QuotaCase {
  std::string name{};
  std::string resource{};
  std::string text{};
  Amount want = 0;
};

class ParseQuota : public ::testing::TestWithParam<QuotaCase> {};

TEST_P(ParseQuota, BecomesUnlimitedAtTheLimit) {
  EXPECT_EQ(parse_quota(GetParam().resource, GetParam().text).value(), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(Table, ParseQuota,
                         ::testing::Values(QuotaCase{"plain", "cpu", "10", 10000},
                                           QuotaCase{"cpu_below", "cpu", "9223372036854774", 9223372036854774000},
                                           QuotaCase{"cpu_at", "cpu", "9223372036854775", kMax},
                                           QuotaCase{"cpu_above", "cpu", "1E", kMax},
                                           QuotaCase{"memory_below", "memory", "9223372036854775806", kMax - 1},
                                           QuotaCase{"memory_at", "memory", "9223372036854775807", kMax},
                                           QuotaCase{"memory_above", "memory", "8Ei", kMax}),
                         [](const auto& row) { return row.param.name; });

TEST(ParseMilli, RoundsUpToThousandths) {
  EXPECT_EQ(parse_milli("1").value(), 1000);
  EXPECT_EQ(parse_milli("0.3335").value(), 334);
  EXPECT_EQ(parse_milli("1n").value(), 1);
  EXPECT_EQ(parse_milli("0").value(), 0);
  EXPECT_EQ(parse_milli("-1").value(), -1000);
}

TEST(WideNano, ReadsAndPrintsEveryQuantity) {
  for (const char* text : {"0", "1n", "292893218n", "1500m", "2", "10u", "3k", "1000000001n", "1073741824", "-3u", "2E",
                           "9223372036854775807", "9223372036854775806999999999n", "123456789012345678901n"}) {
    EXPECT_EQ(format_nano(parse_wide_nano(text).value()), text);
  }
  EXPECT_EQ(parse_wide_nano("-1024").value(), Nano{-1024} * kNanoPerUnit);
  EXPECT_EQ(parse_wide_nano("1Ei").value(), (Nano{1} << 60) * kNanoPerUnit);
  EXPECT_EQ(parse_wide_nano("0.1n").value(), 1) << "the finest that Kubernetes keeps";
  EXPECT_EQ(parse_wide_nano("1e30").value(), kMaxNano);
  EXPECT_EQ(parse_wide_nano("-1e999").value(), -kMaxNano);
  EXPECT_FALSE(parse_wide_nano("1x").ok());
}

TEST(ParseNano, TellsTinyFromZero) {
  EXPECT_EQ(parse_nano("1n").value(), 1);
  EXPECT_EQ(parse_nano("0.1n").value(), 1);
  EXPECT_EQ(parse_nano("2n").value(), 2);
  EXPECT_EQ(parse_nano("1").value(), 1'000'000'000);
  EXPECT_EQ(parse_nano("1E").value(), kMax);
}

struct FormatCase {
  std::string name{};
  std::string resource{};
  Amount amount = 0;
  std::string want{};
};

class FormatAmount : public ::testing::TestWithParam<FormatCase> {};

TEST_P(FormatAmount, PrintsAsKubernetes) {
  EXPECT_EQ(format_amount(GetParam().resource, GetParam().amount), GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, FormatAmount,
    ::testing::Values(
        FormatCase{"zero", "cpu", 0, "0"}, FormatCase{"zero_memory", "memory", 0, "0"},
        FormatCase{"cpu_milli", "cpu", 1500, "1500m"}, FormatCase{"cpu_whole", "cpu", 2000, "2"},
        FormatCase{"cpu_kilo", "cpu", 1'000'000, "1k"}, FormatCase{"cpu_negative", "cpu", -250, "-250m"},
        FormatCase{"memory_gibi", "memory", 2147483648, "2Gi"}, FormatCase{"memory_odd", "memory", 1025, "1025"},
        FormatCase{"memory_kibi", "memory", 1024, "1Ki"}, FormatCase{"memory_below_kibi", "memory", 1000, "1k"},
        FormatCase{"memory_megabyte", "memory", 1'000'000, "1000000"},
        FormatCase{"memory_exbi", "memory", 7LL << 60, "7Ei"}, FormatCase{"memory_min", "memory", kMinAmount, "-8Ei"},
        FormatCase{"storage", "ephemeral-storage", 5LL << 20, "5Mi"},
        FormatCase{"hugepages", "hugepages-2Mi", 2LL << 20, "2Mi"}, FormatCase{"gpu", "nvidia.com/gpu", 8, "8"},
        FormatCase{"pods_kilo", "pods", 2000, "2k"}, FormatCase{"pods_odd", "pods", 2048, "2048"},
        FormatCase{"exa", "pods", 3'000'000'000'000'000'000, "3E"},
        FormatCase{"min", "pods", kMinAmount, "-9223372036854775808"},
        FormatCase{"unlimited", "cpu", kMax, "<unlimited>"}),
    [](const auto& row) { return row.param.name; });

TEST(FormatAmount, ParsesBackToTheSameAmount) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 20000; ++i) {
    const auto amount = static_cast<Amount>(random() >> (random() % 64));
    const int zeros = static_cast<int>(random() % 10);
    const Amount rounded = (amount >> zeros) << zeros;
    for (const char* resource : {"cpu", "memory", "pods"}) {
      for (const Amount value : {rounded, sat_sub(0, rounded)}) {
        if (value != kUnlimited) {
          ASSERT_EQ(parse_amount(resource, format_amount(resource, value)).value(), value)
              << resource << " " << format_amount(resource, value);
        }
      }
    }
  }
}

}  // namespace
}  // namespace muster
