#include "api/codec/json.h"

#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

constexpr std::size_t kMaxErrorText = 300;

// Counts brackets outside strings. Exact on valid JSON; on anything else the parser refuses the text by itself. Cheaper
// than a second parse, and a hostile nesting never becomes a DOM (whose copy, comparison and dump recurse).
bool nests_deeper_than(int limit, std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') {
      in_string = !in_string;
    } else if (in_string) {
      i += c == '\\' ? 1 : 0;
    } else if (c == '{' || c == '[') {
      if (++depth > limit) {
        return true;
      }
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

Error syntax_error(std::string text) {
  if (text.size() > kMaxErrorText) {
    text.resize(kMaxErrorText);
  }
  return invalid("JSON: " + text);
}

Error too_large(const std::string& what) {
  return Error{.code = ErrorCode::kTooLarge, .message = "JSON " + what};
}

}  // namespace

Result<Json> parse_json(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) {
    return too_large("longer than " + std::to_string(limits.bytes) + " bytes");
  }
  if (nests_deeper_than(limits.depth, text)) {
    return too_large("nested deeper than " + std::to_string(limits.depth));
  }
  try {
    return Result<Json>(Json::parse(text.begin(), text.end()));
  } catch (const Json::parse_error& error) {
    return syntax_error("byte " + std::to_string(error.byte) + ": " + error.what());
  } catch (const Json::exception& error) {  // a number outside every range
    return syntax_error(error.what());
  }
}

std::string dump_json(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace muster::api
