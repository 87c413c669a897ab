#include "client/api_error.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

namespace muster::client {
namespace {

using api::Json;

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

Error error_of(const net::Response& response) {
  const Result<Json> body = api::parse_json(response.body);
  if (body.ok() && is_status(*body)) {
    return from_status(*body, response.status);
  }
  std::string message = "the API server answered " + std::to_string(response.status);
  if (!response.body.empty()) {
    message += ": " + response.body.substr(0, kQuotedBytes);
  }
  return Error{.code = code_of(response.status, ""), .message = std::move(message)};
}

Error error_of_status(const Json& status) {
  if (!is_status(status)) {
    return Error{.code = ErrorCode::kInternal,
                 .message = "not a Status object: " + api::dump_json(status).substr(0, 200)};
  }
  const auto code = status.find("code");
  const bool in_range = code != status.end() && code->is_number_unsigned() && code->get<std::uint64_t>() < 1000;
  return from_status(status, in_range ? code->get<int>() : 500);
}

std::optional<Duration> retry_after(const net::Headers& headers) {
  const std::string* value = net::find_header(headers, "Retry-After");
  if (value == nullptr) {
    return std::nullopt;
  }
  constexpr int kMaxSeconds = 300;
  int seconds = 0;
  const auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), seconds);
  if (error != std::errc() || end != value->data() + value->size() || seconds < 0) {
    return std::nullopt;
  }
  return std::chrono::seconds(std::min(seconds, kMaxSeconds));
}

}  // namespace muster::client
