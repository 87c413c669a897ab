#include "api/codec/yaml.h"

#include <nlohmann/json.hpp>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <sstream>

namespace muster::api {
namespace {

constexpr std::string_view kTagPrefix = "tag:yaml.org,2002:";

template <std::size_t N>
bool is_one_of(std::string_view text, const std::array<std::string_view, N>& words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

std::optional<bool> as_boolean(std::string_view text) {
  static constexpr std::array<std::string_view, 11> kTrue = {"y",    "Y",    "yes", "Yes", "YES", "true",
                                                             "True", "TRUE", "on",  "On",  "ON"};
  static constexpr std::array<std::string_view, 11> kFalse = {"n",     "N",     "no",  "No",  "NO", "false",
                                                              "False", "FALSE", "off", "Off", "OFF"};
  if (is_one_of(text, kTrue)) {
    return true;
  }
  return is_one_of(text, kFalse) ? std::optional(false) : std::nullopt;
}

bool is_null(std::string_view text) {
  static constexpr std::array<std::string_view, 5> kNull = {"", "~", "null", "Null", "NULL"};
  return is_one_of(text, kNull);
}

bool is_infinite(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kNames = {".inf",  ".Inf",  ".INF",  "+.inf", "+.Inf", "+.INF",
                                                              "-.inf", "-.Inf", "-.INF", ".nan",  ".NaN",  ".NAN"};
  return is_one_of(text, kNames);
}

bool all_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// `^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$`
bool looks_like_float(std::string_view text) {
  const auto skip_digits = [&text] {
    std::size_t n = 0;
    while (n < text.size() && text[n] >= '0' && text[n] <= '9') {
      ++n;
    }
    text.remove_prefix(n);
    return n;
  };
  const auto skip_any = [&text](std::string_view chars) {
    const bool found = !text.empty() && chars.find(text.front()) != std::string_view::npos;
    text.remove_prefix(found ? 1 : 0);
    return found;
  };
  skip_any("+-");
  std::size_t digits = skip_digits();
  if (skip_any(".")) {
    digits += skip_digits();
  }
  if (digits == 0) {
    return false;
  }
  if (skip_any("eE")) {
    skip_any("+-");
    return skip_digits() > 0 && text.empty();
  }
  return text.empty();
}

// An integer with Go's base prefixes, sign apart; nullopt when it is none.
struct Integer {
  std::uint64_t magnitude = 0;
  bool fits = true;
};

std::optional<Integer> as_magnitude(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0') {
    const char prefix = static_cast<char>(text[1] | 0x20);
    base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 10;
    text.remove_prefix(base == 10 ? 0 : 2);
  }
  Integer integer;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, integer.magnitude, base);
  if (text.empty() || stop != end || error == std::errc::invalid_argument) {
    return std::nullopt;
  }
  integer.fits = error == std::errc{};
  return integer;
}

// A number as Go's encoder would print it: whole values without a fraction.
Json number(double value) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(value) == value && std::abs(value) <= kExact) {
    return static_cast<std::int64_t>(value);
  }
  return value;
}

class Converter {
 public:
  explicit Converter(const YamlLimits& limits) : limits_(limits) {}

  Result<Json> convert(const YAML::Node& node, int depth) {
    if (depth > limits_.depth) {
      return too_large(node, "nested deeper than " + std::to_string(limits_.depth));
    }
    if (++nodes_ > limits_.nodes) {
      return too_large(node, "more than " + std::to_string(limits_.nodes) + " nodes");
    }
    switch (node.Type()) {
      case YAML::NodeType::Null:
        return Json();
      case YAML::NodeType::Scalar:
        return scalar(node);
      case YAML::NodeType::Sequence:
        return sequence(node, depth);
      case YAML::NodeType::Map:
        return map(node, depth);
      case YAML::NodeType::Undefined:
        break;
    }
    return fail(node, "undefined alias");
  }

 private:
  static std::string at_line(const YAML::Node& node) { return "line " + std::to_string(node.Mark().line + 1) + ": "; }

  static Error fail(const YAML::Node& node, const std::string& what) { return invalid(at_line(node) + what); }

  static Error too_large(const YAML::Node& node, const std::string& what) {
    return Error{.code = ErrorCode::kTooLarge, .message = at_line(node) + what};
  }

  Result<Json> sequence(const YAML::Node& node, int depth) {
    Json list = Json::array();
    for (const YAML::Node& item : node) {
      MUSTER_TRY(value, convert(item, depth + 1));
      list.push_back(std::move(value));
    }
    return list;
  }

  Result<Json> map(const YAML::Node& node, int depth) {
    Json object = Json::object();
    Json merged = Json::object();
    for (const auto& entry : node) {
      if (entry.first.IsScalar() && entry.first.Tag() == "?" && entry.first.Scalar() == "<<") {
        MUSTER_RETURN_IF_ERROR(merge(entry.second, depth, merged));
        continue;
      }
      MUSTER_TRY(key, key_of(entry.first));
      if (object.contains(key)) {
        return fail(entry.first, "key \"" + key + "\" already set in map");
      }
      MUSTER_TRY(value, convert(entry.second, depth + 1));
      object[key] = std::move(value);
    }
    object.insert(merged.begin(), merged.end());  // keys of the map itself win
    return object;
  }

  // `<<: *a` or `<<: [*a, *b]`; of several the first wins.
  Status merge(const YAML::Node& source, int depth, Json& merged) {
    auto result = convert(source, depth + 1);
    if (!result.ok()) {
      return std::move(result).error();
    }
    const Json values = std::move(result).value();
    const Json maps = values.is_array() ? values : Json::array({values});
    for (const Json& one : maps) {
      if (!one.is_object()) {
        return fail(source, "map merge requires a map or a list of maps");
      }
      merged.insert(one.begin(), one.end());
    }
    return {};
  }

  static Result<std::string> key_of(const YAML::Node& node) {
    if (node.IsNull()) {
      return fail(node, "map keys must not be null");
    }
    if (!node.IsScalar()) {
      return fail(node, "map keys must be strings");
    }
    MUSTER_TRY(key, scalar(node));
    return key.is_string() ? key.get<std::string>() : key.dump();
  }

  static Result<Json> scalar(const YAML::Node& node) {
    const std::string& text = node.Scalar();
    const std::string& tag = node.Tag();
    if (tag == "!" || tag == std::string(kTagPrefix) + "str") {
      return Json(text);
    }
    if (tag != "?" && !tag.empty()) {
      return fail(node, "tag " + tag + " is not supported");
    }
    return plain(node, text);
  }

  static Result<Json> plain(const YAML::Node& node, const std::string& text) {
    if (is_null(text)) {
      return Json();
    }
    if (const std::optional<bool> boolean = as_boolean(text)) {
      return Json(*boolean);
    }
    if (is_infinite(text)) {
      return fail(node, text + " has no JSON form");
    }
    const bool numeric = (text[0] >= '0' && text[0] <= '9') || text[0] == '+' || text[0] == '-' || text[0] == '.';
    return numeric ? numeric_or_string(node, text) : Result<Json>(Json(text));
  }

  static Result<Json> numeric_or_string(const YAML::Node& node, const std::string& text) {
    std::string digits = text;
    std::erase(digits, '_');
    const bool negative = digits.starts_with('-');
    const std::string_view unsigned_part = std::string_view(digits).substr(negative || digits.starts_with('+') ? 1 : 0);
    if (unsigned_part.size() > 1 && unsigned_part[0] == '0' && all_digits(unsigned_part)) {
      return fail(node, text + " is octal to some readers and decimal to others: quote it or drop the leading zero");
    }
    if (const std::optional<Integer> integer = as_magnitude(unsigned_part)) {
      return integral(node, text, *integer, negative);
    }
    if (!looks_like_float(digits)) {
      return Json(text);
    }
    double value = 0;
    const std::size_t skip = digits.starts_with('+') ? 1 : 0;
    const auto parsed = std::from_chars(digits.data() + skip, digits.data() + digits.size(), value);
    if (parsed.ec != std::errc{} || !std::isfinite(value)) {
      return fail(node, text + " is out of range");
    }
    return number(value);
  }

  static Result<Json> integral(const YAML::Node& node, const std::string& text, const Integer& integer, bool negative) {
    constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63;
    if (!integer.fits || (negative && integer.magnitude > kMinMagnitude)) {
      return fail(node, text + " is out of range");
    }
    if (negative) {
      return Json(static_cast<std::int64_t>(~integer.magnitude + 1));
    }
    if (integer.magnitude < kMinMagnitude) {
      return Json(static_cast<std::int64_t>(integer.magnitude));
    }
    return Json(integer.magnitude);
  }

  const YamlLimits& limits_;
  std::size_t nodes_ = 0;
};

// yaml-cpp 0.7 reads documents without end where it cannot consume a token (a text of one `,`). A first pass that
// builds nothing finds out: no two documents begin at the same place.
class DocumentStarts : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark& mark) override {
    stuck_ = stuck_ || mark.pos == last_.pos;
    last_ = mark;
  }

  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}

  void OnAlias(const YAML::Mark& /*mark*/, YAML::anchor_t /*anchor*/) override {}

  void OnScalar(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                const std::string& /*value*/) override {}

  void OnSequenceStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                       YAML::EmitterStyle::value /*style*/) override {}

  void OnSequenceEnd() override {}

  void OnMapStart(const YAML::Mark& /*mark*/, const std::string& /*tag*/, YAML::anchor_t /*anchor*/,
                  YAML::EmitterStyle::value /*style*/) override {}

  void OnMapEnd() override {}

  bool stuck() const { return stuck_; }

  int line() const { return last_.line + 1; }

 private:
  YAML::Mark last_ = YAML::Mark::null_mark();  // at -1, where nothing begins
  bool stuck_ = false;
};

Status check_documents(const std::string& text) {
  std::istringstream stream(text);
  YAML::Parser parser(stream);
  DocumentStarts starts;
  while (!starts.stuck() && parser.HandleNextDocument(starts)) {
  }
  return starts.stuck() ? Status(invalid("line " + std::to_string(starts.line()) + ": unexpected token")) : Status();
}

}  // namespace

Result<std::vector<Json>> yaml_to_json(std::string_view text, const YamlLimits& limits) {
  if (text.size() > limits.bytes) {
    return Error{.code = ErrorCode::kTooLarge,
                 .message = "YAML longer than " + std::to_string(limits.bytes) + " bytes"};
  }
  try {
    const std::string copy(text);
    MUSTER_RETURN_IF_ERROR(check_documents(copy));
    std::vector<Json> documents;
    Converter converter(limits);
    for (const YAML::Node& document : YAML::LoadAll(copy)) {
      MUSTER_TRY(value, converter.convert(document, 0));
      if (!value.is_null()) {
        documents.push_back(std::move(value));
      }
    }
    return documents;
  } catch (const YAML::Exception& error) {
    return invalid("line " + std::to_string(error.mark.line + 1) + ": " + error.msg);
  } catch (const std::exception& error) {
    return invalid(std::string("YAML: ") + error.what());
  }
}

}  // namespace muster::api
