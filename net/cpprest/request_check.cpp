#include "net/cpprest/request_check.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace muster::net::cpprest {
namespace {

constexpr std::string_view kHttps = "https://";
constexpr std::string_view kHttp = "http://";

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

bool is_control(char c) {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}

bool is_token(std::string_view text) {  // RFC 9110's token, the alphabet of methods and header names
  constexpr std::string_view kSpecial = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kSpecial.find(c) != std::string_view::npos;
  });
}

// Host and port, without scheme and path.
std::string_view authority(std::string_view url) {
  url.remove_prefix(starts_with(url, kHttps) ? kHttps.size() : kHttp.size());
  return url.substr(0, url.find('/'));
}

bool is_loopback(std::string_view authority) {
  const std::string_view host = authority.substr(0, authority.find(':'));
  const bool numeric = host.find_first_not_of("0123456789.") == std::string_view::npos;
  return host == "localhost" || (numeric && starts_with(host, "127."));
}

Status check_url(const std::string& url) {
  if (!starts_with(url, kHttps) && !starts_with(url, kHttp)) {
    return invalid("'" + url + "' does not start with https:// or http://", "baseUrl");
  }
  const std::string_view host = authority(url);
  if (host.empty() || host.front() == ':') {
    return invalid("'" + url + "' names no host", "baseUrl");
  }
  if (host.front() == '[') {
    return invalid("'" + url +
                       "': an IPv6 address is not supported as host; use a DNS name "
                       "(in a cluster: https://kubernetes.default.svc)",
                   "baseUrl");
  }
  if (host.find('@') != std::string_view::npos || url.find_first_of("?# ") != std::string::npos) {
    return invalid("'" + url + "' must not hold user, query or fragment", "baseUrl");
  }
  return {};
}

}  // namespace

bool is_https(const Credentials& credentials) {
  return starts_with(credentials.base_url, kHttps);
}

bool changes_nothing(const Request& request) {
  return request.method == "GET" || request.method == "HEAD" || request.method == "OPTIONS";
}

Status check_credentials(const Credentials& credentials) {
  MUSTER_RETURN_IF_ERROR(check_url(credentials.base_url));
  if (credentials.client_certificate.empty() != credentials.client_key.empty()) {
    return invalid("a client certificate and its key must be given together", "clientCertificate");
  }
  if (is_https(credentials)) {
    return credentials.ca.empty() ? Status(invalid("https needs the CA that signed the server's certificate", "ca"))
                                  : Status();
  }
  if (!credentials.token.empty() && !is_loopback(authority(credentials.base_url))) {
    return invalid("a token is not sent over plain http to another machine", "token");
  }
  return {};
}

Status check_request(const Request& request) {
  if (!is_token(request.method)) {
    return invalid("'" + request.method + "' is not a method", "method");
  }
  const bool clean = std::none_of(request.target.begin(), request.target.end(),
                                  [](char c) { return is_control(c) || c == ' ' || c == '#'; });
  if (!starts_with(request.target, "/") || !clean) {
    return invalid("'" + request.target + "' is not an encoded path with query", "target");
  }
  constexpr std::array<std::string_view, 6> kOurs{"Host",           "Authorization",     "User-Agent",
                                                  "Content-Length", "Transfer-Encoding", "Connection"};
  for (const std::string_view name : kOurs) {
    if (find_header(request.headers, name) != nullptr) {
      return invalid("the header " + std::string(name) + " is set by the transport", "headers");
    }
  }
  for (const auto& [name, value] : request.headers) {
    if (!is_token(name) || std::any_of(value.begin(), value.end(), [](char c) { return is_control(c) && c != '\t'; })) {
      return invalid("the header '" + name + "' holds characters that are not allowed", "headers");
    }
  }
  return {};
}

}  // namespace muster::net::cpprest
