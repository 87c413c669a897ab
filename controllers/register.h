// All reconcilers of Muster, as the core takes them. The one list.
#pragma once

#include "controllers/options.h"
#include "framework/reconciler.h"

#include <memory>
#include <vector>

namespace muster::controllers {

std::vector<std::unique_ptr<framework::Reconciler>> make_reconcilers(const ControllerOptions& options);

}  // namespace muster::controllers
