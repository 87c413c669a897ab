#include "api/validation/quota_rules.h"

#include "api/codec/encode.h"
#include "api/validation/names.h"
#include "base/quantity.h"

#include <nlohmann/json.hpp>

#include <set>

namespace muster::api {
namespace {

constexpr std::string_view kGroups = "spec.resourceGroups";

// Names met so far over all groups.
struct Seen {
  std::set<std::string> resources{};
  std::set<std::string> flavors{};
};

FieldErrors validate_limit(const std::string& path, const ResourceQuota& quota, const std::optional<Amount>& limit,
                           const QuotaRules& rules) {
  FieldErrors errors;
  if (limit) {
    const std::string printed = encode_amount(quota.resource, *limit);
    if (*limit < 0) {
      errors.push_back(invalid_value(path, printed, kNotNegative));
    }
    if (!rules.has_parent) {
      errors.push_back(invalid_value(path, printed, rules.needs_parent));
    }
  }
  return errors;
}

FieldErrors validate_quota(const std::string& path, const ResourceQuota& quota, const QuotaRules& rules) {
  FieldErrors errors;
  if (quota.nominal < 0) {
    errors.push_back(
        invalid_value(at(path, "nominalQuota"), encode_amount(quota.resource, quota.nominal), kNotNegative));
  }
  append(errors, validate_limit(at(path, "borrowingLimit"), quota, quota.borrowing_limit, rules));
  append(errors, validate_limit(at(path, "lendingLimit"), quota, quota.lending_limit, rules));
  if (rules.lending_within_nominal && quota.lending_limit && *quota.lending_limit > quota.nominal) {
    errors.push_back(invalid_value(at(path, "lendingLimit"), encode_amount(quota.resource, *quota.lending_limit),
                                   "must be less than or equal to the nominalQuota"));
  }
  return errors;
}

FieldErrors validate_flavor(const std::string& path, const FlavorQuotas& flavor, const ResourceGroup& group,
                            const QuotaRules& rules) {
  FieldErrors errors;
  for (std::size_t i = 0; i < flavor.resources.size(); ++i) {
    const ResourceQuota& quota = flavor.resources[i];
    const std::string quota_path = at(at(path, "resources"), i);
    if (i < group.covered_resources.size() && quota.resource != group.covered_resources[i]) {
      errors.push_back(
          invalid_value(at(quota_path, "name"), quota.resource, "must match the name in coveredResources"));
    }
    append(errors, validate_quota(quota_path, quota, rules));
  }
  return errors;
}

FieldErrors validate_group(const std::string& path, const ResourceGroup& group, const QuotaRules& rules, Seen& seen) {
  FieldErrors errors;
  for (std::size_t i = 0; i < group.covered_resources.size(); ++i) {
    const std::string& resource = group.covered_resources[i];
    const std::string resource_path = at(at(path, "coveredResources"), i);
    append(errors, validate_label_key(resource, resource_path));
    if (!seen.resources.insert(resource).second) {
      errors.push_back(duplicate_value(resource_path, resource));
    }
  }
  for (std::size_t i = 0; i < group.flavors.size(); ++i) {
    const FlavorQuotas& flavor = group.flavors[i];
    const std::string flavor_path = at(at(path, "flavors"), i);
    if (!seen.flavors.insert(flavor.name.str()).second) {
      errors.push_back(duplicate_value(at(flavor_path, "name"), flavor.name.str()));
    }
    append(errors, validate_flavor(flavor_path, flavor, group, rules));
  }
  return errors;
}

}  // namespace

FieldErrors validate_resource_groups(const std::vector<ResourceGroup>& groups, const QuotaRules& rules) {
  FieldErrors errors;
  Seen seen;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    append(errors, validate_group(at(kGroups, i), groups[i], rules, seen));
  }
  return errors;
}

FieldErrors validate_fair_weight(const Json& spec) {
  const auto sharing = spec.find("fairSharing");
  if (sharing == spec.end() || !sharing->is_object() || !sharing->contains("weight")) {
    return {};
  }
  const Json& weight = sharing->at("weight");
  const std::string text = weight.is_string() ? weight.get<std::string>() : dump_json(weight);
  const Result<Amount> nano = parse_nano(text);
  if (!nano.ok()) {
    return {};  // decoding has reported it
  }
  if (*nano < 0) {
    return {invalid_value("spec.fairSharing", text, kNotNegative)};
  }
  return *nano == 1 ? FieldErrors{invalid_value("spec.fairSharing", text, "When not 0, weight must be > 10e-9")}
                    : FieldErrors{};
}

const Json& spec_of(const Json& object) {
  static const Json kEmpty = Json::object();
  const auto spec = object.find("spec");
  return spec != object.end() && spec->is_object() ? *spec : kEmpty;
}

}  // namespace muster::api
