// Kubernetes manifests as the simulator's input: YAML text -> submissions, checked as the API server and the webhooks
// check them. Pure.
#pragma once

#include "base/result.h"
#include "sim/submission.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::sim {

struct Manifests {
  std::vector<Submission> submissions{};
  std::vector<std::string> warnings{};  // what is left out, and where it stands
};

// Adds the documents of `yaml`. `source` names them in errors and warnings (`queues.yaml, document 2: …`). The
// annotation muster.x-k8s.io/submit-time of any object says when it appears; an object that appears again later changes
// the first. Lists are taken apart. An object without namespace lives in `default`.
Status read_manifests(std::string_view yaml, const std::string& source, Manifests& out);

}  // namespace muster::sim
