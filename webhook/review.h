// The wire form of admission: admission.k8s.io/v1 AdmissionReview. Decoding trusts nothing; encoding always succeeds.
// Internal to webhook/. Pure.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace muster::webhook {

enum class Operation { kCreate, kUpdate, kDelete, kConnect };

// What the API server asks. An object is JSON null where the operation has none.
struct AdmissionRequest {
  std::string uid{};
  Operation operation = Operation::kCreate;
  api::Json object{};
  api::Json old_object{};

  const api::Json* old() const { return old_object.is_null() ? nullptr : &old_object; }
};

// What we answer. `patch` is a JSON patch, empty for none.
struct Answer {
  bool allowed = true;
  int code = 200;
  std::string reason{};
  std::string message{};
  api::Json patch = api::Json::array();
  std::vector<std::string> warnings{};
};

Answer denied(int code, std::string reason, std::string message);

// kInvalid with the field's path, kTooLarge beyond 7 MiB or 128 levels. The request's namespace is put into objects
// that do not say theirs.
Result<AdmissionRequest> decode_review(std::string_view body);

std::string encode_review(const std::string& uid, const Answer& answer);

// RFC 4648 §4.
std::string encode_base64(std::string_view bytes);

}  // namespace muster::webhook
