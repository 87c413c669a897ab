#include "api/codec/parts.h"
#include "base/quantity.h"

#include <algorithm>

namespace muster::api {
namespace {

__extension__ using Uint128 = unsigned __int128;

// FNV-1a with 128 bits. Every value is written with its kind and length, so that no two structures share a byte stream.
class Hasher {
 public:
  void value(const Json& json);

  std::array<std::uint64_t, 2> digest() const {
    return {static_cast<std::uint64_t>(state_ >> 64), static_cast<std::uint64_t>(state_)};
  }

 private:
  static constexpr Uint128 kOffset = (Uint128{0x6c62272e07bb0142} << 64) | 0x62b821756295c58d;
  static constexpr Uint128 kPrime = (Uint128{1} << 88) | 0x13b;

  void bytes(char kind, std::string_view text);
  void members(const Json& object);
  void quantities(const Json& object);
  void env(const Json& list);

  Uint128 state_ = kOffset;
};

// Absent, null and empty are the same to Kubernetes' semantic equality.
bool is_blank(const Json& json) {
  if (json.is_object()) {
    return std::all_of(json.begin(), json.end(), [](const Json& member) { return is_blank(member); });
  }
  return json.is_null() || (json.is_array() && json.empty());
}

std::string name_of_env(const Json& variable) {
  const auto name = variable.is_object() ? variable.find("name") : variable.end();
  return name != variable.end() && name->is_string() ? name->get<std::string>() : std::string();
}

void Hasher::bytes(char kind, std::string_view text) {
  const auto mix = [this](unsigned char byte) {
    state_ ^= byte;
    state_ *= kPrime;
  };
  mix(static_cast<unsigned char>(kind));
  for (std::size_t length = text.size(), i = 0; i < sizeof length; ++i, length >>= 8) {
    mix(static_cast<unsigned char>(length & 0xff));
  }
  for (const char c : text) {
    mix(static_cast<unsigned char>(c));
  }
}

void Hasher::value(const Json& json) {
  if (json.is_object()) {
    members(json);
  } else if (json.is_array()) {
    bytes('[', std::to_string(json.size()));
    for (const Json& item : json) {
      value(item);
    }
  } else if (json.is_string()) {
    bytes('s', json.get_ref<const std::string&>());
  } else {
    bytes('v', dump_json(json));
  }
}

void Hasher::members(const Json& object) {
  bytes('{', {});
  for (const auto& [key, member] : object.items()) {
    if (is_blank(member)) {
      continue;
    }
    bytes('k', key);
    if ((key == "requests" || key == "limits") && member.is_object()) {
      quantities(member);
    } else if (key == "env" && member.is_array()) {
      env(member);
    } else {
      value(member);
    }
  }
  bytes('}', {});
}

void Hasher::quantities(const Json& object) {
  for (const auto& [resource, quantity] : object.items()) {
    const Result<Amount> amount =
        parse_amount(resource, quantity.is_string() ? quantity.get<std::string>() : dump_json(quantity));
    bytes('q', resource);
    if (amount.ok()) {
      bytes('n', std::to_string(*amount));
    } else {
      value(quantity);
    }
  }
}

void Hasher::env(const Json& list) {
  std::map<std::string, const Json*> last;
  std::vector<std::string> order;
  for (const Json& variable : list) {
    std::string name = name_of_env(variable);
    if (last.insert_or_assign(name, &variable).second) {
      order.push_back(std::move(name));
    }
  }
  bytes('[', std::to_string(order.size()));
  for (const std::string& name : order) {
    value(*last.at(name));
  }
}

}  // namespace

std::array<std::uint64_t, 2> hash_containers(const Json* containers) {
  Hasher hasher;
  if (containers != nullptr && containers->is_array() && !containers->empty()) {
    hasher.value(*containers);
  }
  return hasher.digest();
}

}  // namespace muster::api
