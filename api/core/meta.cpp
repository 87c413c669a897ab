#include "api/core/meta.h"

#include "api/constants.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace muster::api {
namespace {

// At most kMaxConditionMessage bytes, the last four of a cut text being ` ...`. Never splits a UTF-8 sequence: a split
// one would come back changed from the server and be written again for ever.
std::string truncated(std::string message) {
  static constexpr std::string_view kEllipsis = " ...";
  if (message.size() <= kMaxConditionMessage) {
    return message;
  }
  std::size_t end = kMaxConditionMessage - kEllipsis.size();
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0u) == 0x80u) {
    --end;
  }
  message.resize(end);
  return message.append(kEllipsis);
}

std::optional<std::uint64_t> number(const std::string& text) {
  std::uint64_t value = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  return problem == std::errc{} && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool matches(const LabelSelectorRequirement& requirement, const StringMap& labels) {
  const std::string* value = find(labels, requirement.key);
  if (requirement.op == "In") {
    return value != nullptr && contains(requirement.values, *value);
  }
  if (requirement.op == "NotIn") {
    return value == nullptr || !contains(requirement.values, *value);
  }
  if (requirement.op == "Exists") {
    return value != nullptr;
  }
  return requirement.op == "DoesNotExist" && value == nullptr;
}

}  // namespace

const OwnerReference* controller_of(const ObjectMeta& meta) {
  const auto owner = std::find_if(meta.owner_references.begin(), meta.owner_references.end(),
                                  [](const OwnerReference& reference) { return reference.controller; });
  return owner == meta.owner_references.end() ? nullptr : &*owner;
}

const std::string* find(const StringMap& map, const std::string& key) {
  const auto it = map.find(key);
  return it == map.end() ? nullptr : &it->second;
}

bool is_older_version(const std::string& version, const std::string& than) {
  const std::optional<std::uint64_t> a = number(version);
  const std::optional<std::uint64_t> b = number(than);
  return a && b && *a < *b;
}

bool has_finalizer(const ObjectMeta& meta, std::string_view finalizer) {
  return std::find(meta.finalizers.begin(), meta.finalizers.end(), finalizer) != meta.finalizers.end();
}

const Condition* find_condition(const Conditions& conditions, std::string_view type) {
  const auto it = std::find_if(conditions.begin(), conditions.end(),
                               [type](const Condition& condition) { return condition.type == type; });
  return it == conditions.end() ? nullptr : &*it;
}

bool is_true(const Conditions& conditions, std::string_view type) {
  const Condition* condition = find_condition(conditions, type);
  return condition != nullptr && condition->status == ConditionStatus::kTrue;
}

bool is_false(const Conditions& conditions, std::string_view type) {
  const Condition* condition = find_condition(conditions, type);
  return condition != nullptr && condition->status == ConditionStatus::kFalse;
}

bool set_condition(Conditions& conditions, Condition condition) {
  condition.message = truncated(std::move(condition.message));
  const auto current = std::find_if(conditions.begin(), conditions.end(),
                                    [&condition](const Condition& other) { return other.type == condition.type; });
  if (current == conditions.end()) {
    conditions.push_back(std::move(condition));
    return true;
  }
  if (current->status == condition.status) {
    condition.last_transition_time = current->last_transition_time;
  }
  if (*current == condition) {
    return false;
  }
  *current = std::move(condition);
  return true;
}

bool remove_condition(Conditions& conditions, std::string_view type) {
  return std::erase_if(conditions, [type](const Condition& condition) { return condition.type == type; }) > 0;
}

bool matches(const LabelSelector& selector, const StringMap& labels) {
  const bool labels_match =
      std::all_of(selector.match_labels.begin(), selector.match_labels.end(), [&labels](const auto& wanted) {
        const std::string* value = find(labels, wanted.first);
        return value != nullptr && *value == wanted.second;
      });
  return labels_match &&
         std::all_of(selector.match_expressions.begin(), selector.match_expressions.end(),
                     [&labels](const LabelSelectorRequirement& requirement) { return matches(requirement, labels); });
}

}  // namespace muster::api
