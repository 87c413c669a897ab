// An explanation as text for people and as JSON for programs. Pure.
#pragma once

#include "framework/explain/explanation.h"

#include <string>
#include <vector>

namespace muster::cmd {

// `notes`: what could not be seen.
std::string to_table(const framework::Explanation& explanation, const std::vector<std::string>& notes);
std::string to_json(const framework::Explanation& explanation, const std::vector<std::string>& notes);

}  // namespace muster::cmd
