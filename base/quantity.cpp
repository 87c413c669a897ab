#include "base/quantity.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <span>

namespace muster {
namespace {

constexpr int kMaxDigits = 60;     // significant digits kept exactly; what follows only rounds up
constexpr int kWideDigits = 30;    // 10^30 is beyond int64 in billionths
constexpr int kBinaryDigits = 19;  // the largest binary suffix, 2^60, has 19 digits
constexpr Amount kMaxCpuQuota = kUnlimited / 1000 * 1000;  // MaxInt64/1000 cores, in milli

// sign * digits * 10^exponent * 1024^kibi; the digits have no leading zero (none at all: zero).
struct Decimal {
  bool negative = false;
  std::string digits{};
  bool inexact = false;  // non-zero digits were dropped
  std::int64_t exponent = 0;
  int kibi = 0;
};

// Fixed-width natural number: 10^60 * 2^60 * 10^30 needs 360 bits.
class Natural {
 public:
  void multiply_add(std::uint32_t factor, std::uint32_t addend) {
    std::uint64_t carry = addend;
    for (std::uint32_t& word : words_) {
      carry += std::uint64_t{word} * factor;
      word = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
  }

  // Divides and returns the remainder.
  std::uint32_t divide(std::uint32_t divisor) {
    std::uint64_t rest = 0;
    for (auto word = words_.rbegin(); word != words_.rend(); ++word) {
      rest = (rest << 32) | *word;
      *word = static_cast<std::uint32_t>(rest / divisor);
      rest %= divisor;
    }
    return static_cast<std::uint32_t>(rest);
  }

  // The value, or kMaxWide when that is less.
  Wide clamped() const {
    constexpr std::size_t kWords = 4;
    Wide value = 0;
    for (std::size_t i = words_.size(); i-- > 0;) {
      if (words_[i] != 0 && (i >= kWords || (i == kWords - 1 && words_[i] >> 31 != 0))) {
        return kMaxWide;
      }
      value = i < kWords ? (value << 32) | words_[i] : 0;
    }
    return value;
  }

 private:
  std::array<std::uint32_t, 12> words_{};
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string_view take_digits(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) {
    ++n;
  }
  const std::string_view digits = text.substr(0, n);
  text.remove_prefix(n);
  return digits;
}

// Fills exponent and kibi from the suffix; false when Kubernetes knows no such suffix.
bool read_suffix(std::string_view suffix, Decimal& out) {
  static constexpr std::string_view kBinary = "KMGTPE";
  if (suffix.size() == 2 && suffix[1] == 'i') {
    const std::size_t at = kBinary.find(suffix[0]);
    out.kibi = static_cast<int>(at) + 1;
    return at != std::string_view::npos;
  }
  if (suffix.size() <= 1) {
    static constexpr std::array<std::pair<std::string_view, int>, 10> kDecimal = {
        {{"", 0}, {"n", -9}, {"u", -6}, {"m", -3}, {"k", 3}, {"M", 6}, {"G", 9}, {"T", 12}, {"P", 15}, {"E", 18}}};
    for (const auto& [text, exponent] : kDecimal) {
      if (text == suffix) {
        out.exponent = exponent;
        return true;
      }
    }
    return false;
  }
  if (suffix[0] != 'e' && suffix[0] != 'E') {
    return false;
  }
  const bool plus = suffix[1] == '+';
  suffix.remove_prefix(plus ? 2 : 1);
  if (suffix.empty() || (plus && !is_digit(suffix[0]))) {
    return false;
  }
  const auto [end, error] = std::from_chars(suffix.data(), suffix.data() + suffix.size(), out.exponent);
  return error == std::errc{} && end == suffix.data() + suffix.size();
}

void append_digits(std::string_view digits, Decimal& out) {
  for (const char c : digits) {
    if (out.digits.empty() && c == '0') {
      continue;
    }
    if (out.digits.size() < kMaxDigits) {
      out.digits.push_back(c);
    } else {
      out.inexact = out.inexact || c != '0';
    }
  }
}

std::int64_t saturated_exponent(std::int64_t exponent) {
  constexpr std::int64_t kBound = std::int64_t{1} << 40;  // far outside, and sums of it cannot overflow
  return std::clamp(exponent, -kBound, kBound);
}

Result<Decimal> parse_decimal(std::string_view text) {
  const auto refuse = [text] {
    return invalid(
        "quantities must match the regular expression "
        "'^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$': \"" +
        std::string(text.substr(0, 64)) + "\"");
  };
  Decimal decimal;
  std::string_view rest = text;
  if (!rest.empty() && (rest[0] == '+' || rest[0] == '-')) {
    decimal.negative = rest[0] == '-';
    rest.remove_prefix(1);
  }
  const std::string_view whole = take_digits(rest);
  std::string_view fraction;
  if (!rest.empty() && rest[0] == '.') {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  if ((whole.empty() && fraction.empty()) || !read_suffix(rest, decimal)) {
    return refuse();
  }
  append_digits(whole, decimal);
  append_digits(fraction, decimal);
  // Position of the last kept digit: everything after it in the text was counted off or dropped.
  std::size_t significant = whole.size() + fraction.size();
  for (std::size_t i = 0; i < whole.size() + fraction.size(); ++i) {
    if ((i < whole.size() ? whole[i] : fraction[i - whole.size()]) != '0') {
      break;
    }
    --significant;
  }
  const auto dropped = static_cast<std::int64_t>(significant) - static_cast<std::int64_t>(decimal.digits.size());
  decimal.exponent = saturated_exponent(decimal.exponent) + dropped - static_cast<std::int64_t>(fraction.size());
  return decimal;
}

// |value| * 10^shift, rounded up, or kMaxWide when it is far beyond int64 in billionths.
Wide magnitude(const Decimal& decimal, int shift) {
  if (decimal.digits.empty()) {
    return 0;
  }
  const std::int64_t exponent = decimal.exponent + shift;
  const std::int64_t length = static_cast<std::int64_t>(decimal.digits.size()) + exponent;
  if (length > kWideDigits) {
    return kMaxWide;
  }
  if (length + kBinaryDigits <= 0) {
    return 1;
  }
  Natural value;
  for (const char c : decimal.digits) {
    value.multiply_add(10, static_cast<std::uint32_t>(c - '0'));
  }
  for (int i = 0; i < decimal.kibi; ++i) {
    value.multiply_add(1024, 0);
  }
  bool inexact = decimal.inexact;
  for (std::int64_t i = 0; i < exponent; ++i) {
    value.multiply_add(10, 0);
  }
  for (std::int64_t i = exponent; i < 0; ++i) {
    inexact = value.divide(10) != 0 || inexact;
  }
  return wide_add(value.clamped(), Wide{inexact ? 1 : 0});
}

// Rounds away from zero, as Kubernetes does.
Wide wide_scaled(const Decimal& decimal, int shift) {
  const Wide size = magnitude(decimal, shift);
  return decimal.negative ? -size : size;
}

Amount scaled(const Decimal& decimal, int shift) {
  return clamp_to_amount(wide_scaled(decimal, shift));
}

int shift_of(std::string_view resource) {
  return resource == "cpu" ? 3 : 0;
}

bool is_binary(std::string_view resource) {
  return resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
}

std::string digits(Wide value) {
  if (value == clamp_to_amount(value)) {
    return std::to_string(static_cast<Amount>(value));
  }
  const auto tail = static_cast<Amount>(value % kNanoPerUnit);
  const std::string low = std::to_string(tail < 0 ? -tail : tail);
  return digits(value / kNanoPerUnit) + std::string(9 - low.size(), '0') + low;
}

std::string with_suffix(Wide amount, Amount base, std::size_t first, std::span<const char* const> suffixes) {
  std::size_t at = first;
  while (amount != 0 && amount % base == 0 && at + 1 < suffixes.size()) {
    amount /= base;
    ++at;
  }
  return digits(amount) + (amount == 0 ? "" : suffixes[at]);
}

}  // namespace

Result<Amount> parse_amount(std::string_view resource, std::string_view quantity) {
  MUSTER_TRY(decimal, parse_decimal(quantity));
  return scaled(decimal, shift_of(resource));
}

Result<Amount> parse_quota(std::string_view resource, std::string_view quantity) {
  MUSTER_TRY(amount, parse_amount(resource, quantity));
  const Amount limit = resource == "cpu" ? kMaxCpuQuota : kUnlimited;
  return amount >= limit ? kUnlimited : amount;
}

Result<Amount> parse_milli(std::string_view quantity) {
  MUSTER_TRY(decimal, parse_decimal(quantity));
  return scaled(decimal, 3);
}

Result<Amount> parse_nano(std::string_view quantity) {
  MUSTER_TRY(decimal, parse_decimal(quantity));
  return scaled(decimal, 9);
}

Result<Nano> parse_wide_nano(std::string_view quantity) {
  MUSTER_TRY(decimal, parse_decimal(quantity));
  return clamp_nano(wide_scaled(decimal, 9));
}

std::string format_nano(Nano nano) {
  static constexpr std::array<const char*, 10> kSuffixes = {"n", "u", "m", "", "k", "M", "G", "T", "P", "E"};
  return with_suffix(nano, 1000, 0, kSuffixes);
}

std::string format_amount(std::string_view resource, Amount amount) {
  static constexpr std::array<const char*, 8> kDecimal = {"m", "", "k", "M", "G", "T", "P", "E"};
  static constexpr std::array<const char*, 8> kBinary = {"", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", ""};
  if (amount == kUnlimited) {
    return "<unlimited>";
  }
  if (resource == "cpu") {
    return with_suffix(amount, 1000, 0, kDecimal);
  }
  // Kubernetes prints a binary quantity below 1Ki in decimal form (`1k` for 1000).
  const bool small = amount > -1024 && amount < 1024;
  return is_binary(resource) && !small ? with_suffix(amount, 1024, 0, kBinary) : with_suffix(amount, 1000, 1, kDecimal);
}

}  // namespace muster
