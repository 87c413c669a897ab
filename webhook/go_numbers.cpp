#include "webhook/go_numbers.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>

namespace muster::webhook {
namespace {

Error complaint(std::string_view function, std::string_view text, std::string_view problem) {
  return invalid("strconv." + std::string(function) + ": parsing \"" + std::string(text) +
                 "\": " + std::string(problem));
}

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& names, std::string_view text) {
  return std::find(names.begin(), names.end(), text) != names.end();
}

}  // namespace

Result<std::int64_t> parse_go_int(std::string_view text) {
  std::string_view digits = text;
  if (digits.size() > 1 && digits.front() == '+' && digits[1] != '-') {
    digits.remove_prefix(1);
  }
  std::int64_t value = 0;
  const auto [end, problem] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (problem == std::errc::result_out_of_range && end == digits.data() + digits.size()) {
    return complaint("Atoi", text, "value out of range");
  }
  if (problem != std::errc{} || end != digits.data() + digits.size()) {
    return complaint("Atoi", text, "invalid syntax");
  }
  return value;
}

Result<bool> parse_go_bool(std::string_view text) {
  static constexpr std::array<std::string_view, 6> kTrue = {"1", "t", "T", "true", "TRUE", "True"};
  static constexpr std::array<std::string_view, 6> kFalse = {"0", "f", "F", "false", "FALSE", "False"};
  if (is_one_of(kTrue, text)) {
    return true;
  }
  if (is_one_of(kFalse, text)) {
    return false;
  }
  return complaint("ParseBool", text, "invalid syntax");
}

}  // namespace muster::webhook
