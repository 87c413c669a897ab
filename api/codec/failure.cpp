#include "api/codec/failure.h"

#include <nlohmann/json.hpp>

#include <string_view>

namespace muster::api {
namespace {

constexpr std::size_t kQuotedBytes = 200;

ErrorCode code_of(int status, std::string_view reason) {
  switch (status) {
    case 400:
    case 405:
    case 406:
    case 415:
    case 422:
      return ErrorCode::kInvalid;
    case 401:
      return ErrorCode::kUnauthenticated;
    case 403:
      return ErrorCode::kForbidden;
    case 404:
      return ErrorCode::kNotFound;
    case 409:
      return reason == "AlreadyExists" ? ErrorCode::kAlreadyExists : ErrorCode::kConflict;
    case 410:
      return ErrorCode::kGone;
    case 413:
      return ErrorCode::kTooLarge;
    case 408:
    case 504:
      return ErrorCode::kTimeout;
    case 429:
      return ErrorCode::kThrottled;
    default:
      return status >= 500 ? ErrorCode::kUnavailable : ErrorCode::kInternal;
  }
}

std::string text(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::string first_cause_field(const Json& status) {
  const auto details = status.find("details");
  if (details == status.end() || !details->is_object()) {
    return {};
  }
  const auto causes = details->find("causes");
  if (causes == details->end() || !causes->is_array() || causes->empty() || !causes->front().is_object()) {
    return {};
  }
  return text(causes->front(), "field");
}

Error from_status(const Json& status, int code) {
  std::string message = text(status, "message");
  if (message.empty()) {
    message = "the API server answered " + std::to_string(code) + " " + text(status, "reason");
  }
  return Error{
      .code = code_of(code, text(status, "reason")), .message = std::move(message), .path = first_cause_field(status)};
}

bool is_status(const Json& value) {
  return value.is_object() && text(value, "kind") == "Status";
}

}  // namespace

Error error_of_reply(int http_status, const std::string& body) {
  const Result<Json> status = parse_json(body);
  if (status.ok() && is_status(*status)) {
    return from_status(*status, http_status);
  }
  std::string message = "the API server answered " + std::to_string(http_status);
  if (!body.empty()) {
    message += ": " + body.substr(0, kQuotedBytes);
  }
  return Error{.code = code_of(http_status, ""), .message = std::move(message)};
}

Error error_of_status(const Json& status) {
  if (!is_status(status)) {
    return Error{.code = ErrorCode::kInternal,
                 .message = "not a Status object: " + dump_json(status).substr(0, kQuotedBytes)};
  }
  const auto code = status.find("code");
  const bool in_range = code != status.end() && code->is_number_unsigned() && code->get<std::uint64_t>() < 1000;
  return from_status(status, in_range ? code->get<int>() : 500);
}

}  // namespace muster::api
