#include "client/paths.h"

namespace muster::client {
namespace {

bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
         c == '_' || c == '~';
}

}  // namespace

std::string percent_encode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  encoded.reserve(text.size());
  for (const char c : text) {
    if (is_unreserved(c)) {
      encoded += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      encoded += '%';
      encoded += kHex[byte >> 4];
      encoded += kHex[byte & 0xF];
    }
  }
  return encoded;
}

std::string collection_path(const Resource& resource, std::string_view ns) {
  std::string path = resource.group.empty() ? "/api/" : "/apis/" + resource.group + "/";
  path += resource.version;
  if (!ns.empty()) {
    path += "/namespaces/" + percent_encode(ns);
  }
  return path + "/" + resource.plural;
}

std::string object_path(const Resource& resource, std::string_view ns, std::string_view name,
                        std::string_view subresource) {
  std::string path = collection_path(resource, ns) + "/" + percent_encode(name);
  if (!subresource.empty()) {
    path += "/";
    path += subresource;
  }
  return path;
}

std::string with_query(std::string path, const Query& query) {
  char separator = path.find('?') == std::string::npos ? '?' : '&';
  for (const auto& [key, value] : query) {
    if (!value.empty()) {
      path += separator + key + "=" + percent_encode(value);
      separator = '&';
    }
  }
  return path;
}

}  // namespace muster::client
