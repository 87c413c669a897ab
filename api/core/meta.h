// ObjectMeta and conditions, as metav1 has them: the fields Muster reads. Plain values, no JSON.
#pragma once

#include "base/ids.h"
#include "base/time.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace muster::api {

using StringMap = std::map<std::string, std::string>;

struct OwnerReference {
  std::string api_version{};
  std::string kind{};
  std::string name{};
  Uid uid{};
  bool controller = false;
  friend bool operator==(const OwnerReference&, const OwnerReference&) = default;
};

struct ObjectMeta {
  std::string ns{};
  std::string name{};
  Uid uid{};
  std::string resource_version{};
  std::int64_t generation = 0;
  TimePoint creation_timestamp{};
  std::optional<TimePoint> deletion_timestamp{};
  StringMap labels{};
  StringMap annotations{};
  std::vector<OwnerReference> owner_references{};
  std::vector<std::string> finalizers{};
  friend bool operator==(const ObjectMeta&, const ObjectMeta&) = default;

  ObjectKey key() const { return {ns, name}; }
};

// The owner with `controller: true`, or null. Borrowed from `meta`.
const OwnerReference* controller_of(const ObjectMeta& meta);
// The value under `key`, or null when absent. Borrowed.
const std::string* find(const StringMap& map, const std::string& key);
// resourceVersions of one API server grow. Anything unreadable is older than nothing.
bool is_older_version(const std::string& version, const std::string& than);
bool has_finalizer(const ObjectMeta& meta, std::string_view finalizer);

enum class ConditionStatus { kTrue, kFalse, kUnknown };

struct Condition {
  std::string type{};
  ConditionStatus status = ConditionStatus::kUnknown;
  std::string reason{};
  std::string message{};
  TimePoint last_transition_time{};
  std::int64_t observed_generation = 0;
  friend bool operator==(const Condition&, const Condition&) = default;
};

using Conditions = std::vector<Condition>;

const Condition* find_condition(const Conditions& conditions, std::string_view type);
bool is_true(const Conditions& conditions, std::string_view type);
// Present with status False (absent is neither true nor false).
bool is_false(const Conditions& conditions, std::string_view type);
// Adds or replaces by type; the transition time changes only when the status does. The message is cut to 32768 bytes
// as spec/admission.md §0 says. Returns whether anything changed.
bool set_condition(Conditions& conditions, Condition condition);
bool remove_condition(Conditions& conditions, std::string_view type);

// metav1.LabelSelector. An absent selector is std::nullopt where it is held; an empty one matches everything.
struct LabelSelectorRequirement {
  std::string key{};
  std::string op{};  // In, NotIn, Exists, DoesNotExist
  std::vector<std::string> values{};
  friend bool operator==(const LabelSelectorRequirement&, const LabelSelectorRequirement&) = default;
};

struct LabelSelector {
  StringMap match_labels{};
  std::vector<LabelSelectorRequirement> match_expressions{};
  friend bool operator==(const LabelSelector&, const LabelSelector&) = default;
};

bool matches(const LabelSelector& selector, const StringMap& labels);

}  // namespace muster::api
