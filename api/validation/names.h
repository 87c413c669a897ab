// Kubernetes' rules for names, labels, annotations and selectors, with its messages.
#pragma once

#include "api/core/meta.h"
#include "api/validation/field_error.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::api {

// Each gives what is wrong with `value`, empty when nothing is.
std::vector<std::string> qualified_name_problems(std::string_view value);  // a label key
std::vector<std::string> label_value_problems(std::string_view value);
std::vector<std::string> dns_subdomain_problems(std::string_view value);
std::vector<std::string> dns_label_1035_problems(std::string_view value);

FieldErrors validate_label_key(std::string_view key, const std::string& path);
FieldErrors validate_labels(const StringMap& labels, const std::string& path);
FieldErrors validate_annotations(const StringMap& annotations, const std::string& path);
FieldErrors validate_label_selector(const LabelSelector& selector, const std::string& path);
// The annotation kueue.x-k8s.io/admission-gated-by: `old_value` null on create.
FieldErrors validate_admission_gates(std::string_view value, const std::string* old_value);

}  // namespace muster::api
