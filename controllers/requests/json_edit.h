// Small tools for whole API objects as JSON. Pure; nothing here throws, whatever the shape of the input.
#pragma once

#include "api/codec/json.h"
#include "api/core/meta.h"

#include <nlohmann/json.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

namespace muster::controllers {

using Path = std::initializer_list<std::string_view>;

// The member at `path`, or null when any step is missing or no object. Borrowed.
const api::Json* find_at(const api::Json& object, Path path);
// The string at `path`, or empty.
std::string text_at(const api::Json& object, Path path);
std::int64_t integer_at(const api::Json& object, Path path, std::int64_t fallback);
bool bool_at(const api::Json& object, Path path, bool fallback);
// status.conditions[type].status == "True"
bool has_true_condition(const api::Json& object, std::string_view type);

// The object at `path`; steps that are missing, null or no object become empty objects.
api::Json& object_at(api::Json& object, Path path);
// Removes a member of an object, if both exist.
void erase_at(api::Json& object, Path parent, std::string_view key);

api::Json to_json(const api::StringMap& map);

// RFC 7396: the merge patch that turns `before` into `after`.
api::Json merge_diff(const api::Json& before, const api::Json& after);

}  // namespace muster::controllers
