#include "api/validation/field_error.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::api {
namespace {

std::string with_detail(std::string text, std::string_view detail) {
  if (!detail.empty()) {
    text.append(": ").append(detail);
  }
  return text;
}

}  // namespace

FieldError invalid_value(std::string path, const Json& value, std::string_view detail) {
  return {.path = std::move(path), .text = with_detail("Invalid value: " + dump_json(value), detail)};
}

FieldError duplicate_value(std::string path, const Json& value, std::string_view detail) {
  return {.path = std::move(path), .text = with_detail("Duplicate value: " + dump_json(value), detail)};
}

FieldError required_value(std::string path, std::string_view detail) {
  return {.path = std::move(path), .text = with_detail("Required value", detail)};
}

FieldError forbidden(std::string path, std::string_view detail) {
  return {.path = std::move(path), .text = with_detail("Forbidden", detail)};
}

FieldError not_found(std::string path, const Json& value) {
  return {.path = std::move(path), .text = "Not found: " + dump_json(value)};
}

FieldError not_supported(std::string path, const Json& value, const std::vector<std::string>& supported) {
  std::string text = "Unsupported value: " + dump_json(value) + ": supported values: ";
  for (std::size_t i = 0; i < supported.size(); ++i) {
    text += (i == 0 ? "\"" : ", \"") + supported[i] + "\"";
  }
  return {.path = std::move(path), .text = std::move(text)};
}

FieldError too_many(std::string path, std::size_t actual, std::size_t max) {
  return {.path = std::move(path),
          .text = "Too many: " + std::to_string(actual) + ": must have at most " + std::to_string(max) + " items"};
}

std::string to_string(const FieldError& error) {
  return error.path.empty() ? error.text : error.path + ": " + error.text;
}

std::string to_string(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& error : errors) {
    std::string text = to_string(error);
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) {
      texts.push_back(std::move(text));
    }
  }
  if (texts.size() == 1) {
    return texts.front();
  }
  std::string joined;
  for (const std::string& text : texts) {
    joined += (joined.empty() ? "[" : ", ") + text;
  }
  return joined.empty() ? joined : joined + "]";
}

void append(FieldErrors& errors, FieldErrors more) {
  errors.insert(errors.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::string at(std::string_view parent, std::string_view member) {
  return parent.empty() ? std::string(member) : std::string(parent) + "." + std::string(member);
}

std::string at(std::string_view parent, std::size_t index) {
  return std::string(parent) + "[" + std::to_string(index) + "]";
}

std::string at_key(std::string_view parent, std::string_view key) {
  return std::string(parent) + "[" + std::string(key) + "]";
}

}  // namespace muster::api
