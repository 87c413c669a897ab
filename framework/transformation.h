// Resource transformations (spec/admission.md §2.3): what a pod asks for, in the resources that quota is given in.
// Pure.
#pragma once

#include "api/core/pod.h"
#include "base/arith.h"

#include <map>
#include <string>

namespace muster::framework {

// What becomes of one requested resource.
struct Transformation {
  bool keeps_input = true;                // strategy Retain
  std::string multiply_by{};              // another requested resource; empty: none
  std::map<std::string, Wide> outputs{};  // resource -> factor, in billionths
};

using Transformations = std::map<std::string, Transformation>;  // by input

// Products and sums are exact; they are rounded up once, at the end, and a negative sum counts as nothing.
api::ResourceAmounts transform(const api::ResourceAmounts& requests, const Transformations& rules);

}  // namespace muster::framework
