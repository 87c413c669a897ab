// Helpers of the encoders. Internal to api/codec.
#pragma once

#include "api/codec/enums.h"
#include "api/codec/json.h"
#include "api/core/meta.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string_view>
#include <utility>

namespace muster::api {

// Sets `key` unless the value is null or an empty string, list or object.
inline void put(Json& object, std::string_view key, Json value) {
  const bool blank = value.is_null() || ((value.is_structured() || value.is_string()) && value.empty()) ||
                     (value.is_string() && value.get_ref<const std::string&>().empty());
  if (!blank) {
    object[std::string(key)] = std::move(value);
  }
}

template <class T>
void put(Json& object, std::string_view key, const std::optional<T>& value) {
  if (value) {
    object[std::string(key)] = *value;
  }
}

// Sets `key` where the value differs from what absence means.
template <class T>
void put_unless(Json& object, std::string_view key, const T& value, const T& fallback) {
  if (value != fallback) {
    object[std::string(key)] = value;
  }
}

void put_time(Json& object, std::string_view key, const std::optional<TimePoint>& time);

template <class Enum, std::size_t N>
void put_enum(Json& object, std::string_view key, const EnumNames<Enum, N>& names, Enum value) {
  object[std::string(key)] = std::string(name_of(names, value));
}

template <class List, class Encode>
Json encode_list(const List& list, Encode encode_item) {
  Json items = Json::array();
  for (const auto& item : list) {
    items.push_back(encode_item(item));
  }
  return items;
}

inline Json an_object(std::string_view api_version, std::string_view kind, Json meta) {
  return {{"apiVersion", std::string(api_version)}, {"kind", std::string(kind)}, {"metadata", std::move(meta)}};
}

inline constexpr std::string_view kKueueVersion = "kueue.x-k8s.io/v1beta2";

}  // namespace muster::api
