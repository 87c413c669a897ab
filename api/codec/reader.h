// Reads members of a JSON object into values, remembering the first error with its field path. Internal to api/
// (codecs, config, validation): after a failure every read returns its fallback, and `Problems` says what went wrong.
// A reader borrows the document and its parent reader: keep both alive, on the stack, while it is used.
#pragma once

#include "api/codec/enums.h"
#include "api/codec/json.h"
#include "api/core/meta.h"
#include "api/core/pod.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace muster::api {

// The first error of one decoding.
class Problems {
 public:
  bool ok() const { return !first_.has_value(); }

  void add(Error error) {
    if (!first_) {
      first_ = std::move(error);
    }
  }

  const std::optional<Error>& first() const { return first_; }

  // The decoded value, or the first error.
  template <class T>
  Result<T> finish(T value) && {
    if (first_) {
      return std::move(*first_);
    }
    return Result<T>(std::move(value));
  }

 private:
  std::optional<Error> first_{};
};

class Reader {
 public:
  Reader(const Json& root, Problems& problems);

  // The object under `key`; null and absent read as an empty object for which present() is false.
  Reader child(std::string_view key) const;

  bool present() const { return value_ != nullptr; }

  bool has(std::string_view key) const { return raw(key) != nullptr; }

  // The member as it is, or null when absent or JSON null.
  const Json* raw(std::string_view key) const;

  const Json* value() const { return value_; }

  std::string text(std::string_view key, std::string_view fallback = {}) const;
  bool boolean(std::string_view key, bool fallback = false) const;
  std::int32_t int32(std::string_view key, std::int32_t fallback = 0) const;
  std::int64_t int64(std::string_view key, std::int64_t fallback = 0) const;
  std::optional<std::int32_t> maybe_int32(std::string_view key) const;
  std::optional<std::int64_t> maybe_int64(std::string_view key) const;
  std::optional<TimePoint> maybe_time(std::string_view key) const;

  TimePoint time(std::string_view key) const { return maybe_time(key).value_or(TimePoint{}); }

  std::optional<Duration> maybe_duration(std::string_view key) const;  // a Go duration string
  StringMap string_map(std::string_view key) const;
  std::vector<std::string> strings(std::string_view key) const;
  // Quantities: strings, or integers as they are; `resource` gives the base unit.
  std::optional<std::string> maybe_quantity(std::string_view key) const;
  std::optional<Amount> maybe_amount(std::string_view key, std::string_view resource) const;
  std::optional<Amount> maybe_quota(std::string_view key, std::string_view resource) const;
  std::optional<Amount> maybe_nano(std::string_view key) const;
  ResourceAmounts amounts(std::string_view key) const;
  std::map<std::string, Nano> nano_amounts(std::string_view key) const;

  template <class Enum, std::size_t N>
  Enum one_of(std::string_view key, const EnumNames<Enum, N>& names, Enum fallback) const {
    const Json* member = raw(key);
    if (member == nullptr) {
      return fallback;
    }
    const std::optional<Enum> found = member->is_string() ? from_name(names, text(key)) : std::nullopt;
    if (!found) {
      fail_unsupported(key, names_of(names));
    }
    return found.value_or(fallback);
  }

  // One call of `decode_item(const Reader&)` for every element (an object) of the list under `key`.
  template <class Decode>
  auto list(std::string_view key, Decode decode_item) const {
    std::vector<std::invoke_result_t<Decode, const Reader&>> items;
    const Json* member = array(key);
    if (member != nullptr) {
      items.reserve(member->size());
      for (std::size_t i = 0; i < member->size(); ++i) {
        items.push_back(decode_item(element(key, *member, i)));
      }
    }
    return items;
  }

  // Strict decoding: an error for a member that is not listed.
  void allow_only(std::initializer_list<std::string_view> known) const;

  // Records an error at this object (empty key) or at its member.
  void fail(std::string_view key, std::string message) const;
  // `spec.podSets[0].count`.
  std::string path(std::string_view key = {}) const;

 private:
  Reader(const Json* value, const Reader* parent, std::string key, Problems* problems)
      : value_(value), parent_(parent), key_(std::move(key)), problems_(problems) {}

  Reader element(std::string_view key, const Json& array, std::size_t index) const;
  const Json* array(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key, std::int64_t min, std::int64_t max) const;
  void fail_unsupported(std::string_view key, const std::string& names) const;
  template <class T>
  std::optional<T> parsed(std::string_view key, const Result<T>& amount) const;

  const Json* value_;  // an object, or null when absent
  const Reader* parent_ = nullptr;
  std::string key_{};
  Problems* problems_;
};

}  // namespace muster::api
