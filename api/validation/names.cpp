#include "api/validation/names.h"

#include "api/constants.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace muster::api {
namespace {

constexpr std::size_t kMaxNamePart = 63;
constexpr std::size_t kMaxSubdomain = 253;
constexpr std::size_t kMaxAnnotationBytes = 256u << 10;

constexpr std::string_view kNameRule =
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character "
    "(e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "
    "'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
constexpr std::string_view kLabelValueRule =
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is "
    "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
constexpr std::string_view kSubdomainRule =
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and "
    "end with an alphanumeric character (e.g. 'example.com', regex used for validation is "
    "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
constexpr std::string_view kLabel1035Rule =
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is "
    "'[a-z]([-a-z0-9]*[a-z0-9])?')";

bool is_lower_alnum(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

bool is_alnum(char c) {
  return is_lower_alnum(c) || (c >= 'A' && c <= 'Z');
}

// `[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?`
bool is_name_part(std::string_view text) {
  return !text.empty() && is_alnum(text.front()) && is_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_alnum(c) || c == '-' || c == '_' || c == '.'; });
}

bool is_dns_label(std::string_view text) {
  return !text.empty() && is_lower_alnum(text.front()) && is_lower_alnum(text.back()) &&
         std::all_of(text.begin(), text.end(), [](char c) { return is_lower_alnum(c) || c == '-'; });
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = text.find(separator); at != std::string_view::npos; at = text.find(separator)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

bool is_subdomain(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '.');
  return std::all_of(parts.begin(), parts.end(), is_dns_label);
}

std::string too_long(std::size_t max) {
  return "must be no more than " + std::to_string(max) + " bytes";
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) {
    text.remove_prefix(1);
  }
  while (!text.empty() && is_space(text.back())) {
    text.remove_suffix(1);
  }
  return text;
}

FieldErrors as_errors(const std::string& path, std::string_view value, const std::vector<std::string>& problems) {
  FieldErrors errors;
  for (const std::string& problem : problems) {
    errors.push_back(invalid_value(path, std::string(value), problem));
  }
  return errors;
}

FieldErrors validate_requirement(const LabelSelectorRequirement& requirement, const std::string& path) {
  FieldErrors errors;
  if (requirement.op == "In" || requirement.op == "NotIn") {
    if (requirement.values.empty()) {
      errors.push_back(required_value(at(path, "values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (requirement.op == "Exists" || requirement.op == "DoesNotExist") {
    if (!requirement.values.empty()) {
      errors.push_back(
          forbidden(at(path, "values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else {
    errors.push_back(invalid_value(at(path, "operator"), requirement.op, "not a valid selector operator"));
  }
  append(errors, validate_label_key(requirement.key, at(path, "key")));
  for (std::size_t i = 0; i < requirement.values.size(); ++i) {
    const std::string& value = requirement.values[i];
    append(errors, as_errors(at(at(path, "values"), i), value, label_value_problems(value)));
  }
  return errors;
}

std::vector<std::string_view> gate_names(std::string_view value) {
  std::vector<std::string_view> names;
  if (!value.empty()) {
    for (const std::string_view entry : split(value, ',')) {
      names.push_back(trimmed(entry));
    }
  }
  return names;
}

// `<DNS subdomain>/<http path>`
bool is_domain_prefixed_path(std::string_view gate) {
  const std::size_t slash = gate.find('/');
  if (slash == std::string_view::npos || slash == 0 || slash + 1 == gate.size()) {
    return false;
  }
  static constexpr std::string_view kPathChars = "/-._~!$&'()*+,;=:@%";
  const std::string_view path = gate.substr(slash + 1);
  return gate.substr(0, slash).size() <= kMaxSubdomain && is_subdomain(gate.substr(0, slash)) &&
         std::all_of(path.begin(), path.end(),
                     [](char c) { return is_alnum(c) || kPathChars.find(c) != std::string_view::npos; });
}

}  // namespace

std::vector<std::string> qualified_name_problems(std::string_view value) {
  const std::vector<std::string_view> parts = split(value, '/');
  if (parts.size() > 2) {
    return {"a qualified name " + std::string(kNameRule) +
            " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"};
  }
  std::vector<std::string> problems;
  if (parts.size() == 2) {
    if (parts.front().empty()) {
      problems.emplace_back("prefix part must be non-empty");
    } else {
      for (const std::string& problem : dns_subdomain_problems(parts.front())) {
        problems.push_back("prefix part " + problem);
      }
    }
  }
  const std::string_view name = parts.back();
  if (name.empty()) {
    problems.emplace_back("name part must be non-empty");
  } else if (name.size() > kMaxNamePart) {
    problems.push_back("name part " + too_long(kMaxNamePart));
  }
  if (!is_name_part(name)) {
    problems.push_back("name part " + std::string(kNameRule));
  }
  return problems;
}

std::vector<std::string> label_value_problems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNamePart) {
    problems.push_back(too_long(kMaxNamePart));
  }
  if (!value.empty() && !is_name_part(value)) {
    problems.emplace_back(kLabelValueRule);
  }
  return problems;
}

std::vector<std::string> dns_subdomain_problems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxSubdomain) {
    problems.push_back(too_long(kMaxSubdomain));
  }
  if (!is_subdomain(value)) {
    problems.emplace_back(kSubdomainRule);
  }
  return problems;
}

std::vector<std::string> dns_label_1035_problems(std::string_view value) {
  std::vector<std::string> problems;
  if (value.size() > kMaxNamePart) {
    problems.push_back(too_long(kMaxNamePart));
  }
  if (!is_dns_label(value) || !(value.front() >= 'a' && value.front() <= 'z')) {
    problems.emplace_back(kLabel1035Rule);
  }
  return problems;
}

FieldErrors validate_label_key(std::string_view key, const std::string& path) {
  return as_errors(path, key, qualified_name_problems(key));
}

FieldErrors validate_labels(const StringMap& labels, const std::string& path) {
  FieldErrors errors;
  for (const auto& [key, value] : labels) {
    append(errors, validate_label_key(key, path));
    append(errors, as_errors(path, value, label_value_problems(value)));
  }
  return errors;
}

FieldErrors validate_annotations(const StringMap& annotations, const std::string& path) {
  FieldErrors errors;
  std::size_t bytes = 0;
  for (const auto& [key, value] : annotations) {
    std::string lower = key;  // the rule is for the lower-cased key, the message names it as written
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; });
    append(errors, as_errors(path, key, qualified_name_problems(lower)));
    bytes += key.size() + value.size();
  }
  if (bytes > kMaxAnnotationBytes) {
    errors.push_back(
        {.path = path, .text = "Too long: may not be more than " + std::to_string(kMaxAnnotationBytes) + " bytes"});
  }
  return errors;
}

FieldErrors validate_label_selector(const LabelSelector& selector, const std::string& path) {
  FieldErrors errors = validate_labels(selector.match_labels, at(path, "matchLabels"));
  const std::string expressions = at(path, "matchExpressions");
  for (std::size_t i = 0; i < selector.match_expressions.size(); ++i) {
    append(errors, validate_requirement(selector.match_expressions[i], at(expressions, i)));
  }
  return errors;
}

FieldErrors validate_admission_gates(std::string_view value, const std::string* old_value) {
  const std::string path = at_key("metadata.annotations", kAdmissionGatedByAnnotation);
  const std::vector<std::string_view> gates = gate_names(value);
  FieldErrors errors;
  for (auto gate = gates.begin(); gate != gates.end(); ++gate) {
    if (gate->empty()) {
      errors.push_back(invalid_value(path, std::string(value), "cannot contain empty gate names"));
    } else if (std::find(gates.begin(), gate, *gate) != gate) {
      errors.push_back(invalid_value(path, std::string(value), "duplicate gate name: " + std::string(*gate)));
    } else if (!is_domain_prefixed_path(*gate)) {
      errors.push_back(
          invalid_value(path, std::string(*gate), "must be a domain-prefixed path (such as \"acme.io/foo\")"));
    }
  }
  if (old_value == nullptr || gates.empty()) {
    return errors;
  }
  const std::vector<std::string_view> old_gates = gate_names(*old_value);
  if (old_gates.empty()) {
    errors.push_back(forbidden(path, "cannot add admission gate after creation"));
  } else if (!std::all_of(gates.begin(), gates.end(), [&old_gates](std::string_view gate) {
               return std::find(old_gates.begin(), old_gates.end(), gate) != old_gates.end();
             })) {
    errors.push_back(forbidden(path, "can only remove gates, not add new ones"));
  }
  return errors;
}

}  // namespace muster::api
