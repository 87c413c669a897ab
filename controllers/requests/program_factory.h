// Effects as API requests: the one ProgramFactory, run by the live executor and by the simulator alike.
#pragma once

#include "framework/request.h"

#include <string>
#include <vector>

namespace muster::controllers {

struct ProgramOptions {
  std::vector<std::string> label_keys_to_copy{};  // integrations.labelKeysToCopy
  std::string instance = "muster";                // reportingInstance of events: `muster-<host>`
};

// Programs are independent of one another and of the factory; make them on any thread.
framework::ProgramFactory make_program_factory(ProgramOptions options);

}  // namespace muster::controllers
