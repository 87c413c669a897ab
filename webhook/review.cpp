#include "webhook/review.h"

#include "webhook/object.h"

#include <array>
#include <optional>
#include <utility>

namespace muster::webhook {
namespace {

using api::Json;

constexpr api::JsonLimits kLimits{.bytes = 7U << 20, .depth = 128};
constexpr char kReviewVersion[] = "admission.k8s.io/v1";

Status expect_text(const Json& parent, std::string_view key, std::string_view want, std::string path) {
  const Json& value = member(parent, key);
  if (value.is_string() && value.get_ref<const std::string&>() == want) {
    return {};
  }
  return invalid("must be \"" + std::string(want) + "\"", std::move(path));
}

Result<std::string> text(const Json& request, std::string_view key) {
  const Json& value = member(request, key);
  if (!value.is_string() || value.get_ref<const std::string&>().empty()) {
    return invalid("must be a string that is not empty", "request." + std::string(key));
  }
  return value.get<std::string>();
}

Result<Operation> operation_of(const Json& request) {
  MUSTER_TRY(name, text(request, "operation"));
  static constexpr std::array<std::pair<std::string_view, Operation>, 4> kNames = {{{"CREATE", Operation::kCreate},
                                                                                    {"UPDATE", Operation::kUpdate},
                                                                                    {"DELETE", Operation::kDelete},
                                                                                    {"CONNECT", Operation::kConnect}}};
  for (const auto& [known, operation] : kNames) {
    if (known == name) {
      return operation;
    }
  }
  return invalid("must be CREATE, UPDATE, DELETE or CONNECT", "request.operation");
}

// The object under `key`, null when absent; with the request's namespace if it has none of its own.
Result<Json> take_object(Json& request, const char* key) {
  Json object = request.contains(key) ? std::move(request[key]) : Json{};
  if (object.is_null()) {
    return object;
  }
  if (!object.is_object()) {
    return invalid("must be an object", std::string("request.") + key);
  }
  const Json& ns = member(request, "namespace");
  if (ns.is_string() && !ns.get_ref<const std::string&>().empty() && member(object, "metadata").is_object() &&
      member(object, "metadata", "namespace").is_null()) {
    object["metadata"]["namespace"] = ns;
  }
  return object;
}

Status check_objects(const AdmissionRequest& request) {
  const bool writes = request.operation == Operation::kCreate || request.operation == Operation::kUpdate;
  if (writes && request.object.is_null()) {
    return invalid("must be set", "request.object");
  }
  if (request.operation == Operation::kUpdate && request.old_object.is_null()) {
    return invalid("must be set", "request.oldObject");
  }
  return {};
}

}  // namespace

Answer denied(int code, std::string reason, std::string message) {
  return {.allowed = false, .code = code, .reason = std::move(reason), .message = std::move(message)};
}

Result<AdmissionRequest> decode_review(std::string_view body) {
  MUSTER_TRY(review, api::parse_json(body, kLimits));
  MUSTER_RETURN_IF_ERROR(expect_text(review, "apiVersion", kReviewVersion, "apiVersion"));
  MUSTER_RETURN_IF_ERROR(expect_text(review, "kind", "AdmissionReview", "kind"));
  if (!member(review, "request").is_object()) {
    return invalid("must be an object", "request");
  }
  Json& wire = review["request"];
  AdmissionRequest request;
  MUSTER_TRY(uid, text(wire, "uid"));
  request.uid = std::move(uid);
  MUSTER_TRY(operation, operation_of(wire));
  request.operation = operation;
  MUSTER_TRY(object, take_object(wire, "object"));
  request.object = std::move(object);
  MUSTER_TRY(old_object, take_object(wire, "oldObject"));
  request.old_object = std::move(old_object);
  MUSTER_RETURN_IF_ERROR(check_objects(request));
  return request;
}

std::string encode_review(const std::string& uid, const Answer& answer) {
  Json response = {{"uid", uid}, {"allowed", answer.allowed}};
  if (!answer.allowed) {
    response["status"] = {{"code", answer.code}, {"reason", answer.reason}, {"message", answer.message}};
  } else if (!answer.patch.empty()) {
    response["patchType"] = "JSONPatch";
    response["patch"] = encode_base64(api::dump_json(answer.patch));
  }
  if (!answer.warnings.empty()) {
    response["warnings"] = answer.warnings;
  }
  return api::dump_json(
      {{"apiVersion", kReviewVersion}, {"kind", "AdmissionReview"}, {"response", std::move(response)}});
}

std::string encode_base64(std::string_view bytes) {
  static constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t block = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      block = block << 8U | (j < count ? static_cast<unsigned char>(bytes[i + j]) : 0U);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += j <= count ? kAlphabet[block >> (18U - 6U * j) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace muster::webhook
