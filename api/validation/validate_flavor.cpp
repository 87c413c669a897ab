#include "api/codec/decode.h"
#include "api/kueue/queues.h"
#include "api/validation/names.h"
#include "api/validation/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace muster::api {
namespace {

std::string joined(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) {
    text += (text.empty() ? "" : ";") + problem;
  }
  return text;
}

Json taint_value(const Taint& taint) {
  Json json = {{"key", taint.key}};
  if (!taint.value.empty()) {
    json["value"] = taint.value;
  }
  json["effect"] = taint.effect;
  return json;
}

FieldErrors validate_taints(const std::vector<Taint>& taints, const std::string& path) {
  FieldErrors errors;
  std::set<std::pair<std::string, std::string>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Taint& taint = taints[i];
    append(errors, validate_label_key(taint.key, at(at(path, i), "key")));
    if (const std::vector<std::string> problems = label_value_problems(taint.value); !problems.empty()) {
      errors.push_back(invalid_value(at(at(path, i), "value"), taint.value, joined(problems)));
    }
    if (!seen.insert({taint.key, taint.effect}).second) {
      errors.push_back(
          duplicate_value(at(path, i), taint_value(taint), "taints must be unique by key and effect pair"));
    }
  }
  return errors;
}

}  // namespace

FieldErrors validate_resource_flavor(const Json& flavor) {
  const Result<ResourceFlavor> decoded = decode<ResourceFlavor>(flavor);
  if (!decoded.ok()) {
    return {{.path = decoded.error().path, .text = decoded.error().message}};
  }
  FieldErrors errors = validate_labels(decoded->node_labels, "spec.nodeLabels");
  append(errors, validate_taints(decoded->node_taints, "spec.nodeTaints"));
  for (std::size_t i = 0; i < decoded->tolerations.size(); ++i) {
    if (const std::string& key = decoded->tolerations[i].key; !key.empty()) {
      append(errors, validate_label_key(key, at(at("spec.tolerations", i), "key")));
    }
  }
  return errors;
}

}  // namespace muster::api
