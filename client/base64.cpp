#include "client/base64.h"

#include <cstdint>

namespace muster::client {
namespace {

int value_of(char c) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const std::size_t at = kAlphabet.find(c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

}  // namespace

Result<std::string> decode_base64(std::string_view text) {
  std::string bytes;
  std::uint32_t bits = 0;
  int characters = 0;
  int padding = 0;
  for (const char c : text) {
    if (is_space(c)) {
      continue;
    }
    const int value = c == '=' ? 0 : value_of(c);
    if (value < 0 || (padding > 0 && c != '=')) {
      return invalid("not base64");
    }
    padding += c == '=' ? 1 : 0;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    if (++characters % 4 == 0) {
      for (const int shift : {16, 8, 0}) {
        bytes += static_cast<char>(bits >> shift & 0xFF);
      }
    }
  }
  if (characters % 4 != 0 || padding > 2) {
    return invalid("not base64");
  }
  bytes.resize(bytes.size() - static_cast<std::size_t>(padding));
  return bytes;
}

}  // namespace muster::client
