#include "base/time.h"

#include <gtest/gtest.h>

#include <random>

namespace muster {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::sys_days;

TimePoint utc(int year, unsigned month, unsigned day, Duration of_day = {}) {
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{month}, std::chrono::day{day}};
  return TimePoint{sys_days{date}} + of_day;
}

struct TimeCase {
  std::string name{};
  std::string text{};
  TimePoint want{};
};

class ParseTime : public ::testing::TestWithParam<TimeCase> {};

TEST_P(ParseTime, ReadsRfc3339) {
  const Result<TimePoint> got = parse_rfc3339(GetParam().text);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(*got, GetParam().want);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseTime,
    ::testing::Values(TimeCase{"epoch", "1970-01-01T00:00:00Z", utc(1970, 1, 1)},
                      TimeCase{"plain", "2026-12-01T08:00:00Z", utc(2026, 12, 1, hours{8})},
                      TimeCase{"micro", "2026-12-01T08:00:00.123456Z", utc(2026, 12, 1, hours{8} + Duration{123})},
                      TimeCase{"short_fraction", "2026-12-01T08:00:00.5Z", utc(2026, 12, 1, hours{8} + Duration{500})},
                      TimeCase{"nanos", "2026-12-01T00:00:00.000999999Z", utc(2026, 12, 1)},
                      TimeCase{"east", "2026-12-01T08:00:00+02:30", utc(2026, 12, 1, hours{5} + minutes{30})},
                      TimeCase{"west", "2026-12-01T23:00:00-02:00", utc(2026, 12, 2, hours{1})},
                      TimeCase{"zero_offset", "2026-12-01T08:00:00+00:00", utc(2026, 12, 1, hours{8})},
                      TimeCase{"leap_day", "2028-02-29T00:00:00Z", utc(2028, 2, 29)},
                      TimeCase{"go_zero", "0001-01-01T00:00:00Z", utc(1, 1, 1)},
                      TimeCase{"last", "9999-12-31T23:59:59Z",
                               utc(9999, 12, 31, hours{23} + minutes{59} + std::chrono::seconds{59})}),
    [](const auto& row) { return row.param.name; });

class RefusedTime : public ::testing::TestWithParam<std::string> {};

TEST_P(RefusedTime, IsAnError) {
  EXPECT_FALSE(parse_rfc3339(GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(Table, RefusedTime,
                         ::testing::Values("", "null", "2026-12-01", "2026-12-01 08:00:00Z", "2026-12-01T08:00:00",
                                           "2026-12-01T08:00:00z", "2026-12-01T24:00:00Z", "2026-12-01T08:60:00Z",
                                           "2026-12-01T08:00:60Z", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
                                           "2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-12-01T08:00:00.Z",
                                           "2026-12-01T08:00:00Z ", "2026-12-01T08:00:00+24:00", "26-12-01T08:00:00Z",
                                           "2026-12-01T08:00:00+02", "+026-12-01T08:00:00Z", "1e9"));

TEST(FormatTime, HasTheServersPrecision) {
  const TimePoint time = utc(2026, 2, 3, hours{4} + minutes{5} + Duration{6789});
  EXPECT_EQ(format_rfc3339(time), "2026-02-03T04:05:06Z");
  EXPECT_EQ(format_rfc3339_micro(time), "2026-02-03T04:05:06.789000Z");
  EXPECT_EQ(to_seconds(time), utc(2026, 2, 3, hours{4} + minutes{5} + Duration{6000}));
}

TEST(FormatTime, StaysPrintableBeyondFourDigitYears) {
  EXPECT_EQ(format_rfc3339(TimePoint::max()), "9999-12-31T23:59:59Z");
  EXPECT_EQ(format_rfc3339(TimePoint::min()), "0000-01-01T00:00:00Z");
  EXPECT_EQ(format_rfc3339(utc(1969, 12, 31, hours{23} + Duration{1})), "1969-12-31T23:00:00Z");
}

TEST(FormatTime, ParsesBack) {
  const unsigned seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random(seed);
  for (int i = 0; i < 5000; ++i) {
    const TimePoint time{Duration{static_cast<std::int64_t>(random() % 250'000'000'000'000)}};
    ASSERT_EQ(parse_rfc3339(format_rfc3339_micro(time)).value(), time);
    ASSERT_EQ(parse_rfc3339(format_rfc3339(time)).value(), to_seconds(time));
  }
}

struct DurationCase {
  std::string name{};
  std::string text{};
  std::int64_t millis = 0;
  std::string printed{};
};

class ParseDuration : public ::testing::TestWithParam<DurationCase> {};

TEST_P(ParseDuration, ReadsAndPrintsAsGo) {
  const Result<Duration> got = parse_duration(GetParam().text);
  ASSERT_TRUE(got.ok()) << to_string(got.error());
  EXPECT_EQ(got->count(), GetParam().millis);
  EXPECT_EQ(format_duration(*got), GetParam().printed);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ParseDuration,
    ::testing::Values(
        DurationCase{"zero", "0", 0, "0s"}, DurationCase{"zero_seconds", "0s", 0, "0s"},
        DurationCase{"seconds", "5s", 5000, "5s"}, DurationCase{"millis", "100ms", 100, "100ms"},
        DurationCase{"composed", "1h30m", 5'400'000, "1h30m0s"}, DurationCase{"minutes", "5m", 300'000, "5m0s"},
        DurationCase{"many_minutes", "90m", 5'400'000, "1h30m0s"},
        DurationCase{"fraction", "1.5h", 5'400'000, "1h30m0s"}, DurationCase{"fraction_only", ".5s", 500, "500ms"},
        DurationCase{"fractional_seconds", "1.25s", 1250, "1.25s"}, DurationCase{"point_last", "1.s", 1000, "1s"},
        DurationCase{"negative", "-1m30s", -90'000, "-1m30s"}, DurationCase{"plus", "+2s", 2000, "2s"},
        DurationCase{"nano_rounds_away_from_zero", "1ns", 1, "1ms"}, DurationCase{"negative_nano", "-1ns", -1, "-1ms"},
        DurationCase{"micro_sign", "1500\xC2\xB5s", 2, "2ms"}, DurationCase{"greek_mu", "2000\xCE\xBCs", 2, "2ms"},
        DurationCase{"us", "1000us", 1, "1ms"}, DurationCase{"repeated_unit", "1s1s", 2000, "2s"},
        DurationCase{"long_fraction", "0.1234567890123456789012345h", 444'445, "7m24.445s"},
        DurationCase{"largest", "2562047h", 2562047LL * 3'600'000, "2562047h0m0s"}),
    [](const auto& row) { return row.param.name; });

class RefusedDuration : public ::testing::TestWithParam<std::string> {};

TEST_P(RefusedDuration, IsAnError) {
  EXPECT_FALSE(parse_duration(GetParam()).ok());
}

INSTANTIATE_TEST_SUITE_P(Table, RefusedDuration,
                         ::testing::Values("", "5", "s", "-", "+", "1d", "1 h", " 1h", "1h ", "1h30", ".s", "1..5s",
                                           "--1s", "1hh", "2562048h", "9223372036854775808ns", "1e3s", "1H", "null"));

}  // namespace
}  // namespace muster
