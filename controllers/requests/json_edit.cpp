#include "controllers/requests/json_edit.h"

namespace muster::controllers {

using api::Json;

const Json* find_at(const Json& object, Path path) {
  const Json* at = &object;
  for (const std::string_view key : path) {
    if (!at->is_object()) {
      return nullptr;
    }
    const auto member = at->find(std::string(key));
    if (member == at->end() || member->is_null()) {
      return nullptr;
    }
    at = &*member;
  }
  return at;
}

std::string text_at(const Json& object, Path path) {
  const Json* found = find_at(object, path);
  return found != nullptr && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t integer_at(const Json& object, Path path, std::int64_t fallback) {
  const Json* found = find_at(object, path);
  return found != nullptr && found->is_number_integer() ? found->get<std::int64_t>() : fallback;
}

bool bool_at(const Json& object, Path path, bool fallback) {
  const Json* found = find_at(object, path);
  return found != nullptr && found->is_boolean() ? found->get<bool>() : fallback;
}

bool has_true_condition(const Json& object, std::string_view type) {
  const Json* conditions = find_at(object, {"status", "conditions"});
  if (conditions == nullptr || !conditions->is_array()) {
    return false;
  }
  for (const Json& condition : *conditions) {
    if (text_at(condition, {"type"}) == type) {
      return text_at(condition, {"status"}) == "True";
    }
  }
  return false;
}

Json& object_at(Json& object, Path path) {
  Json* at = &object;
  for (const std::string_view key : path) {
    if (!at->is_object()) {
      *at = Json::object();
    }
    at = &(*at)[std::string(key)];
  }
  if (!at->is_object()) {
    *at = Json::object();
  }
  return *at;
}

void erase_at(Json& object, Path parent, std::string_view key) {
  if (find_at(object, parent) != nullptr) {
    object_at(object, parent).erase(std::string(key));
  }
}

Json to_json(const api::StringMap& map) {
  Json json = Json::object();
  for (const auto& [key, value] : map) {
    json[key] = value;
  }
  return json;
}

Json merge_diff(const Json& before, const Json& after) {
  Json changes = Json::object();
  for (const auto& [key, value] : after.items()) {
    const auto old = before.find(key);
    if (old == before.end()) {
      changes[key] = value;
    } else if (old->is_object() && value.is_object()) {
      Json inner = merge_diff(*old, value);
      if (!inner.empty()) {
        changes[key] = std::move(inner);
      }
    } else if (*old != value) {
      changes[key] = value;
    }
  }
  for (const auto& [key, value] : before.items()) {
    if (!value.is_null() && !after.contains(key)) {
      changes[key] = nullptr;
    }
  }
  return changes;
}

}  // namespace muster::controllers
