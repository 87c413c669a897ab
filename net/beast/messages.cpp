#include "net/beast/messages.h"

#include <boost/beast/http/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

namespace muster::net::beast {
namespace {

namespace http = boost::beast::http;

bool is_field_safe(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

// Framing is decided here, whatever the handler says.
bool is_framing(const std::string& name) {
  constexpr std::array<std::string_view, 3> kFraming{"Content-Length", "Transfer-Encoding", "Connection"};
  return std::any_of(kFraming.begin(), kFraming.end(), [&](std::string_view framing) {
    return find_header({{name, std::string()}}, framing) != nullptr;
  });
}

bool has_body(int status) {
  return status >= 200 && status != 204 && status != 304;
}

}  // namespace

std::string printed_address(const boost::asio::ip::address& address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return boost::asio::ip::make_address_v4(boost::asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

bool to_server_request(http::request<http::string_body> message, ServerRequest& request) {
  const std::string target(message.target());
  if (target.empty() || target.front() != '/') {
    return false;
  }
  const std::size_t mark = target.find('?');
  request.method = std::string(message.method_string());
  request.path = target.substr(0, mark);
  request.query = mark == std::string::npos ? std::string() : target.substr(mark + 1);
  for (const auto& field : message) {
    request.headers.emplace_back(std::string(field.name_string()), std::string(field.value()));
  }
  request.body = std::move(message.body());
  return true;
}

bool is_sendable(const Response& response) {
  return response.status >= 200 && response.status <= 999 &&
         std::all_of(response.headers.begin(), response.headers.end(), [](const auto& header) {
           return !header.first.empty() && header.first.find(':') == std::string::npos && is_field_safe(header.first) &&
                  is_field_safe(header.second);
         });
}

Response plain_answer(int status, std::string text) {
  text.push_back('\n');
  return Response{.status = status,
                  .headers = {{"Content-Type", "text/plain; charset=utf-8"}, {"X-Content-Type-Options", "nosniff"}},
                  .body = std::move(text)};
}

http::response<http::string_body> to_message(Response response, Ending ending, Body body) {
  http::response<http::string_body> message;
  message.version(11);
  message.result(static_cast<unsigned>(response.status));
  for (const auto& [name, value] : response.headers) {
    if (!is_framing(name)) {
      message.insert(name, value);
    }
  }
  message.keep_alive(ending == Ending::kKeepAlive);
  if (has_body(response.status)) {
    message.content_length(response.body.size());
    if (body == Body::kSent) {
      message.body() = std::move(response.body);
    }
  }
  return message;
}

int status_of(const boost::system::error_code& error) {
  if (error.category() != http::make_error_code(http::error::end_of_stream).category()) {
    return 0;
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) {
    return 0;
  }
  if (error == http::error::body_limit) {
    return 413;
  }
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return 431;
  }
  return 400;
}

}  // namespace muster::net::beast
