#include "controllers/jobs/sha1.h"

#include <bit>
#include <string>

namespace muster::controllers {
namespace {

using State = std::array<std::uint32_t, 5>;

std::uint32_t big_endian(std::string_view block, std::size_t word) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = (value << 8) | static_cast<std::uint8_t>(block[word * 4 + i]);
  }
  return value;
}

// The non-linear function and the constant of one of the four rounds.
std::uint32_t mix(std::size_t step, const State& s) {
  if (step < 20) {
    return ((s[1] & s[2]) | (~s[1] & s[3])) + 0x5A827999u;
  }
  if (step < 40) {
    return (s[1] ^ s[2] ^ s[3]) + 0x6ED9EBA1u;
  }
  if (step < 60) {
    return ((s[1] & s[2]) | (s[1] & s[3]) | (s[2] & s[3])) + 0x8F1BBCDCu;
  }
  return (s[1] ^ s[2] ^ s[3]) + 0xCA62C1D6u;
}

void absorb(std::string_view block, State& state) {
  std::array<std::uint32_t, 80> words{};
  for (std::size_t i = 0; i < words.size(); ++i) {
    words[i] =
        i < 16 ? big_endian(block, i) : std::rotl(words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
  }
  State s = state;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::uint32_t next = std::rotl(s[0], 5) + mix(i, s) + s[4] + words[i];
    s = {next, s[0], std::rotl(s[1], 30), s[2], s[3]};
  }
  for (std::size_t i = 0; i < s.size(); ++i) {
    state[i] += s[i];
  }
}

std::string padded(std::string_view text) {
  std::string data(text);
  data.push_back(static_cast<char>(0x80));
  data.append((120 - data.size() % 64) % 64, '\0');
  const std::uint64_t bits = static_cast<std::uint64_t>(text.size()) * 8;
  for (int shift = 56; shift >= 0; shift -= 8) {
    data.push_back(static_cast<char>((bits >> shift) & 0xFFu));
  }
  return data;
}

}  // namespace

std::array<std::uint8_t, 20> sha1(std::string_view text) {
  State state{0x67452301u, 0xEFCDAB89u, 0x98BADCFEu, 0x10325476u, 0xC3D2E1F0u};
  const std::string data = padded(text);
  for (std::size_t at = 0; at < data.size(); at += 64) {
    absorb(std::string_view(data).substr(at, 64), state);
  }
  std::array<std::uint8_t, 20> digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(state[i / 4] >> (24 - 8 * (i % 4)));
  }
  return digest;
}

}  // namespace muster::controllers
