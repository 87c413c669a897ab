#include "client/api_error.h"

#include "api/codec/failure.h"

#include <algorithm>
#include <charconv>

namespace muster::client {

Error error_of(const net::Response& response) {
  return api::error_of_reply(response.status, response.body);
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
