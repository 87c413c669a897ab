// How the threads of this folder tell their owner what went wrong; it logs and counts. Called on those threads.
#pragma once

#include "base/result.h"

#include <functional>

namespace muster::webhook {

using ReportProblem = std::function<void(const Error&)>;

}  // namespace muster::webhook
