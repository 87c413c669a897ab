#include "api/codec/reader.h"

#include "base/quantity.h"

#include <algorithm>
#include <limits>

namespace muster::api {
namespace {

const Json* find_member(const Json* object, std::string_view key) {
  if (object == nullptr) {
    return nullptr;
  }
  const auto it = object->find(key);
  return it == object->end() || it->is_null() ? nullptr : &*it;
}

std::string joined(const std::string& parent, std::string_view key) {
  if (parent.empty() || key.empty() || key.front() == '[') {
    return parent + std::string(key);
  }
  return parent + "." + std::string(key);
}

std::string wrong_type(std::string_view wanted, const Json& value) {
  return "expected " + std::string(wanted) + ", found " + value.type_name();
}

std::string in_brackets(std::string_view key) {
  return "[" + std::string(key) + "]";
}

}  // namespace

Reader::Reader(const Json& root, Problems& problems) : value_(&root), problems_(&problems) {
  if (!root.is_object()) {
    value_ = nullptr;
    fail({}, wrong_type("an object", root));
  }
}

Reader Reader::child(std::string_view key) const {
  const Json* member = raw(key);
  if (member != nullptr && !member->is_object()) {
    fail(key, wrong_type("an object", *member));
    member = nullptr;
  }
  return Reader(member, this, std::string(key), problems_);
}

const Json* Reader::raw(std::string_view key) const {
  return find_member(value_, key);
}

Reader Reader::element(std::string_view key, const Json& array, std::size_t index) const {
  const std::string name = std::string(key) + "[" + std::to_string(index) + "]";
  const Json* item = &array[index];
  if (!item->is_object()) {
    fail(name, wrong_type("an object", *item));
    item = nullptr;
  }
  return Reader(item, this, name, problems_);
}

const Json* Reader::array(std::string_view key) const {
  const Json* member = raw(key);
  if (member != nullptr && !member->is_array()) {
    fail(key, wrong_type("a list", *member));
    return nullptr;
  }
  return member;
}

std::string Reader::path(std::string_view key) const {
  return joined(parent_ == nullptr ? key_ : parent_->path(key_), key);
}

void Reader::fail(std::string_view key, std::string message) const {
  if (problems_->ok()) {
    problems_->add(invalid(std::move(message), path(key)));
  }
}

void Reader::fail_unsupported(std::string_view key, const std::string& names) const {
  fail(key, "Unsupported value: " + dump_json(*raw(key)) + ": supported values: " + names);
}

std::string Reader::text(std::string_view key, std::string_view fallback) const {
  const Json* member = raw(key);
  if (member == nullptr) {
    return std::string(fallback);
  }
  if (!member->is_string()) {
    fail(key, wrong_type("a string", *member));
    return std::string(fallback);
  }
  return member->get_ref<const std::string&>();
}

bool Reader::boolean(std::string_view key, bool fallback) const {
  const Json* member = raw(key);
  if (member == nullptr) {
    return fallback;
  }
  if (!member->is_boolean()) {
    fail(key, wrong_type("a boolean", *member));
    return fallback;
  }
  return member->get<bool>();
}

std::optional<std::int64_t> Reader::integer(std::string_view key, std::int64_t min, std::int64_t max) const {
  const Json* member = raw(key);
  if (member == nullptr) {
    return std::nullopt;
  }
  if (!member->is_number_integer()) {
    fail(key, wrong_type("an integer", *member));
    return std::nullopt;
  }
  const bool too_large = member->is_number_unsigned() && member->get<std::uint64_t>() > static_cast<std::uint64_t>(max);
  if (too_large || member->get<std::int64_t>() < min || member->get<std::int64_t>() > max) {
    fail(key, "integer out of range: " + dump_json(*member));
    return std::nullopt;
  }
  return member->get<std::int64_t>();
}

std::optional<std::int32_t> Reader::maybe_int32(std::string_view key) const {
  using Limits = std::numeric_limits<std::int32_t>;
  const std::optional<std::int64_t> value = integer(key, Limits::min(), Limits::max());
  return value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
}

std::optional<std::int64_t> Reader::maybe_int64(std::string_view key) const {
  using Limits = std::numeric_limits<std::int64_t>;
  return integer(key, Limits::min(), Limits::max());
}

std::int32_t Reader::int32(std::string_view key, std::int32_t fallback) const {
  return maybe_int32(key).value_or(fallback);
}

std::int64_t Reader::int64(std::string_view key, std::int64_t fallback) const {
  return maybe_int64(key).value_or(fallback);
}

std::optional<TimePoint> Reader::maybe_time(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  const Result<TimePoint> time = parse_rfc3339(text(key));
  if (!time.ok()) {
    fail(key, time.error().message);
    return std::nullopt;
  }
  return *time;
}

std::optional<Duration> Reader::maybe_duration(std::string_view key) const {
  if (!has(key)) {
    return std::nullopt;
  }
  const Result<Duration> duration = parse_duration(text(key));
  if (!duration.ok()) {
    fail(key, duration.error().message);
    return std::nullopt;
  }
  return *duration;
}

StringMap Reader::string_map(std::string_view key) const {
  StringMap map;
  const Reader object = child(key);
  if (object.present()) {
    for (const auto& [name, value] : object.value_->items()) {
      if (value.is_string()) {
        map.emplace(name, value.template get_ref<const std::string&>());
      } else if (!value.is_null()) {
        object.fail(in_brackets(name), wrong_type("a string", value));
      }
    }
  }
  return map;
}

std::vector<std::string> Reader::strings(std::string_view key) const {
  std::vector<std::string> values;
  const Json* member = array(key);
  if (member == nullptr) {
    return values;
  }
  values.reserve(member->size());
  for (std::size_t i = 0; i < member->size(); ++i) {
    if ((*member)[i].is_string()) {
      values.push_back((*member)[i].get_ref<const std::string&>());
    } else {
      fail(std::string(key) + "[" + std::to_string(i) + "]", wrong_type("a string", (*member)[i]));
    }
  }
  return values;
}

std::optional<std::string> Reader::maybe_quantity(std::string_view key) const {
  const Json* member = raw(key);
  if (member == nullptr) {
    return std::nullopt;
  }
  if (member->is_string()) {
    return member->get_ref<const std::string&>();
  }
  if (member->is_number()) {
    return dump_json(*member);
  }
  fail(key, wrong_type("a quantity", *member));
  return std::nullopt;
}

template <class T>
std::optional<T> Reader::parsed(std::string_view key, const Result<T>& amount) const {
  if (!amount.ok()) {
    fail(key, amount.error().message);
    return std::nullopt;
  }
  return *amount;
}

std::optional<Amount> Reader::maybe_amount(std::string_view key, std::string_view resource) const {
  const std::optional<std::string> quantity = maybe_quantity(key);
  return quantity ? parsed(key, parse_amount(resource, *quantity)) : std::nullopt;
}

std::optional<Amount> Reader::maybe_quota(std::string_view key, std::string_view resource) const {
  const std::optional<std::string> quantity = maybe_quantity(key);
  return quantity ? parsed(key, parse_quota(resource, *quantity)) : std::nullopt;
}

std::optional<Amount> Reader::maybe_nano(std::string_view key) const {
  const std::optional<std::string> quantity = maybe_quantity(key);
  return quantity ? parsed(key, parse_nano(*quantity)) : std::nullopt;
}

ResourceAmounts Reader::amounts(std::string_view key) const {
  ResourceAmounts amounts;
  const Reader object = child(key);
  if (object.present()) {
    for (const auto& entry : object.value_->items()) {
      if (const std::optional<Amount> amount = object.maybe_amount(entry.key(), entry.key())) {
        amounts.emplace(entry.key(), *amount);
      }
    }
  }
  return amounts;
}

std::map<std::string, Nano> Reader::nano_amounts(std::string_view key) const {
  std::map<std::string, Nano> amounts;
  const Reader object = child(key);
  if (object.present()) {
    for (const auto& entry : object.value_->items()) {
      if (const std::optional<std::string> quantity = object.maybe_quantity(entry.key())) {
        if (const std::optional<Nano> amount = object.parsed(entry.key(), parse_wide_nano(*quantity))) {
          amounts.emplace(entry.key(), *amount);
        }
      }
    }
  }
  return amounts;
}

void Reader::allow_only(std::initializer_list<std::string_view> known) const {
  if (!present()) {
    return;
  }
  for (const auto& entry : value_->items()) {
    if (std::find(known.begin(), known.end(), entry.key()) == known.end()) {
      fail(entry.key(), "unknown field");
    }
  }
}

}  // namespace muster::api
