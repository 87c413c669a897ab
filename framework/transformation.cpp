#include "framework/transformation.h"

#include <algorithm>

namespace muster::framework {

namespace {

// Products are kept in 10^-15 of a whole unit: two amounts in thousandths and a factor in billionths. Whatever int64
// can say has room to spare in that; what has not saturates.
constexpr Wide kWhole = Wide{1'000'000'000'000'000};

Wide thousandths_of(const std::string& resource) {
  return resource == "cpu" ? 1 : 1000;
}

Wide scaled_product(const api::ResourceAmounts& requests, const std::string& resource, Amount amount,
                    const Transformation& rule, Wide factor) {
  Wide product = wide_mul(Wide{amount} * thousandths_of(resource), factor);
  const auto multiplier = rule.multiply_by.empty() ? requests.end() : requests.find(rule.multiply_by);
  return multiplier == requests.end()
             ? wide_mul(product, 1000)
             : wide_mul(wide_mul(product, multiplier->second), thousandths_of(rule.multiply_by));
}

Amount rounded_up(const std::string& resource, Wide sum) {
  const Wide unit = kWhole * thousandths_of(resource) / 1000;
  const Wide positive = std::max<Wide>(0, sum);
  return clamp_to_amount(positive / unit + (positive % unit > 0 ? 1 : 0));
}

}  // namespace

api::ResourceAmounts transform(const api::ResourceAmounts& requests, const Transformations& rules) {
  api::ResourceAmounts result;
  std::map<std::string, Wide> generated;
  for (const auto& [resource, amount] : requests) {
    const auto rule = rules.find(resource);
    if (rule == rules.end()) {
      result.emplace(resource, amount);
      continue;
    }
    for (const auto& [output, factor] : rule->second.outputs) {
      Wide& sum = generated[output];
      sum = wide_add(sum, scaled_product(requests, resource, amount, rule->second, factor));
    }
    if (rule->second.keeps_input) {
      result.emplace(resource, amount);
    }
  }
  for (const auto& [resource, sum] : generated) {
    Amount& total = result[resource];
    total = sat_add(total, rounded_up(resource, sum));
  }
  return result;
}

}  // namespace muster::framework
