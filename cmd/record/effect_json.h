// An effect in full, as JSON: effects that would be written alike have equal text, others different text. For the hash
// of a recorded settle and for whoever looks at a difference; never decoded. Pure.
#pragma once

#include "api/codec/json.h"
#include "framework/effects.h"

#include <cstdint>

namespace muster::cmd {

api::Json to_json(const framework::Effect& effect);
// Of all effects in order, with their ids.
std::uint64_t hash_of(const framework::Effects& effects);

}  // namespace muster::cmd
