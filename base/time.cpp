#include "base/time.h"

#include <array>
#include <cstdio>
#include <limits>

namespace muster {
namespace {

using std::chrono::days;
using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr std::int64_t kNanosPerMilli = 1'000'000;

// The years that four digits can say; a time outside is printed as the nearest of them.
TimePoint printable(TimePoint time) {
  using namespace std::chrono_literals;
  constexpr TimePoint kFirst = std::chrono::sys_days{std::chrono::January / 1 / 0};
  constexpr TimePoint kEnd = std::chrono::sys_days{std::chrono::January / 1 / 10000};
  return std::clamp(time, kFirst, kEnd - 1ms);
}

std::string date_and_time(TimePoint time) {
  const auto day = std::chrono::floor<days>(time);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss clock{std::chrono::floor<seconds>(time - day)};
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()));
  return text.data();
}

// Reads fixed-width fields from the front of a text; remembers the first failure.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  int number(std::size_t width, int max) {
    int value = 0;
    for (std::size_t i = 0; i < width; ++i) {
      if (i >= rest_.size() || rest_[i] < '0' || rest_[i] > '9') {
        ok_ = false;
        return 0;
      }
      value = value * 10 + (rest_[i] - '0');
    }
    rest_.remove_prefix(width);
    ok_ = ok_ && value <= max;
    return value;
  }

  void expect(char c) { ok_ = accept(c) && ok_; }

  bool accept(char c) {
    if (rest_.empty() || rest_.front() != c) {
      return false;
    }
    rest_.remove_prefix(1);
    return true;
  }

  // Digits after a decimal point as milliseconds, finer ones cut off.
  int fraction_ms() {
    int value = 0;
    std::size_t n = 0;
    for (; n < rest_.size() && rest_[n] >= '0' && rest_[n] <= '9'; ++n) {
      if (n < 3) {
        value = value * 10 + (rest_[n] - '0');
      }
    }
    ok_ = ok_ && n > 0;
    rest_.remove_prefix(n);
    for (; n < 3; ++n) {
      value *= 10;
    }
    return value;
  }

  bool finished() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

// Minutes east of UTC.
minutes zone_offset(Scanner& scan) {
  if (scan.accept('Z')) {
    return minutes{0};
  }
  const bool west = scan.accept('-');
  if (!west) {
    scan.expect('+');
  }
  const int hour = scan.number(2, 23);
  scan.expect(':');
  const int minute = scan.number(2, 59);
  const minutes offset{hour * 60 + minute};
  return west ? -offset : offset;
}

struct Unit {
  std::string_view name{};
  std::int64_t nanos = 0;
};

constexpr std::array<Unit, 8> kUnits = {{{"ns", 1},
                                         {"us", 1'000},
                                         {"\xC2\xB5s", 1'000},
                                         {"\xCE\xBCs", 1'000},
                                         {"ms", 1'000'000},
                                         {"s", 1'000'000'000},
                                         {"m", 60'000'000'000},
                                         {"h", 3'600'000'000'000}}};

std::string_view take(std::string_view& text, bool digits) {
  std::size_t n = 0;
  while (n < text.size() && text[n] != '.' && (text[n] >= '0' && text[n] <= '9') == digits) {
    ++n;
  }
  const std::string_view taken = text.substr(0, n);
  text.remove_prefix(n);
  return taken;
}

// Adds one `12.5h` to `total` nanoseconds; false on bad syntax or overflow.
bool add_component(std::string_view& text, std::int64_t& total) {
  const std::string_view whole = take(text, true);
  std::string_view fraction;
  if (!text.empty() && text.front() == '.') {
    text.remove_prefix(1);
    fraction = take(text, true);
  }
  const std::string_view name = take(text, false);
  const auto* unit = std::find_if(kUnits.begin(), kUnits.end(), [name](const Unit& u) { return u.name == name; });
  if ((whole.empty() && fraction.empty()) || unit == kUnits.end()) {
    return false;
  }
  std::int64_t value = 0;
  for (const char c : whole) {
    if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, c - '0', &value)) {
      return false;
    }
  }
  if (__builtin_mul_overflow(value, unit->nanos, &value)) {
    return false;
  }
  std::int64_t part = 0;
  fraction = fraction.substr(0, 18);  // below a nanosecond nothing changes
  for (auto digit = fraction.rbegin(); digit != fraction.rend(); ++digit) {
    part = (part + unit->nanos * (*digit - '0')) / 10;
  }
  return !__builtin_add_overflow(value, part, &value) && !__builtin_add_overflow(total, value, &total);
}

}  // namespace

std::string format_rfc3339(TimePoint time) {
  return date_and_time(printable(time)) + "Z";
}

std::string format_rfc3339_micro(TimePoint time) {
  time = printable(time);
  const auto fraction = microseconds{time - std::chrono::floor<seconds>(time)};
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), ".%06dZ", static_cast<int>(fraction.count()));
  return date_and_time(time) + text.data();
}

Result<TimePoint> parse_rfc3339(std::string_view text) {
  Scanner scan(text);
  const int year = scan.number(4, 9999);
  scan.expect('-');
  const int month = scan.number(2, 12);
  scan.expect('-');
  const int day = scan.number(2, 31);
  scan.expect('T');
  const hours hour{scan.number(2, 23)};
  scan.expect(':');
  const minutes minute{scan.number(2, 59)};
  scan.expect(':');
  const seconds second{scan.number(2, 59)};
  const Duration fraction{scan.accept('.') ? scan.fraction_ms() : 0};
  const minutes offset = zone_offset(scan);
  const std::chrono::year_month_day date{std::chrono::year{year}, std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  if (!scan.finished() || !date.ok()) {
    return invalid("not an RFC 3339 time: \"" + std::string(text.substr(0, 64)) + "\"");
  }
  return TimePoint{std::chrono::sys_days{date} + hour + minute + second + fraction - offset};
}

Result<Duration> parse_duration(std::string_view text) {
  const Error error = invalid("invalid duration \"" + std::string(text.substr(0, 64)) + "\"");
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) {
    rest.remove_prefix(1);
  }
  if (rest == "0") {
    return Duration{0};
  }
  if (rest.empty()) {
    return error;
  }
  std::int64_t nanos = 0;
  while (!rest.empty()) {
    if (!add_component(rest, nanos)) {
      return error;
    }
  }
  const std::int64_t millis = nanos / kNanosPerMilli + (nanos % kNanosPerMilli != 0 ? 1 : 0);
  return Duration{negative ? -millis : millis};
}

std::string format_duration(Duration duration) {
  const std::int64_t count = duration.count();
  if (count == 0) {
    return "0s";
  }
  const std::string sign = count < 0 ? "-" : "";
  const std::uint64_t millis = count < 0 ? ~static_cast<std::uint64_t>(count) + 1 : static_cast<std::uint64_t>(count);
  if (millis < 1000) {
    return sign + std::to_string(millis) + "ms";
  }
  const std::uint64_t whole = millis / 1000;
  std::string fraction = std::to_string(millis % 1000 + 1000);
  fraction[0] = '.';
  fraction.erase(fraction.find_last_not_of('0') + 1);
  if (fraction == ".") {
    fraction.clear();
  }
  std::string text = sign;
  if (whole >= 3600) {
    text += std::to_string(whole / 3600) + "h";
  }
  if (whole >= 60) {
    text += std::to_string(whole / 60 % 60) + "m";
  }
  return text + std::to_string(whole % 60) + fraction + "s";
}

}  // namespace muster
