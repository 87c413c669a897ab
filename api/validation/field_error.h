// Errors about fields, in the text format that kubectl users know: `spec.x[0].y: Invalid value: "z": detail`.
#pragma once

#include "api/codec/json.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

struct FieldError {
  std::string path{};
  std::string text{};  // kind, value and detail: what follows `path: `

  friend bool operator==(const FieldError&, const FieldError&) = default;
};

using FieldErrors = std::vector<FieldError>;

// Makers, one a kind. `value` is printed as JSON.
FieldError invalid_value(std::string path, const Json& value, std::string_view detail);
FieldError duplicate_value(std::string path, const Json& value, std::string_view detail = {});
FieldError required_value(std::string path, std::string_view detail = {});
FieldError forbidden(std::string path, std::string_view detail);
FieldError not_found(std::string path, const Json& value);
FieldError not_supported(std::string path, const Json& value, const std::vector<std::string>& supported);
FieldError too_many(std::string path, std::size_t actual, std::size_t max);

std::string to_string(const FieldError& error);
// One error alone, several as `[a, b]`, repetitions left out. Empty for none.
std::string to_string(const FieldErrors& errors);

void append(FieldErrors& errors, FieldErrors more);

// Paths: at("spec", "x") = spec.x; at("spec.x", 3) = spec.x[3]; at_key("spec.m", "a/b") = spec.m[a/b].
std::string at(std::string_view parent, std::string_view member);
std::string at(std::string_view parent, std::size_t index);
std::string at_key(std::string_view parent, std::string_view key);

inline constexpr std::string_view kNotNegative = "must be greater than or equal to 0";
inline constexpr std::string_view kImmutable = "field is immutable";

}  // namespace muster::api
