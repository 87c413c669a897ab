// Programs that write jobs, pods and the specs of Workloads (all by EditProgram). Internal to controllers/requests.
#pragma once

#include "framework/request.h"

#include <memory>

namespace muster::controllers {

std::unique_ptr<framework::Program> make_program(const framework::StartJob& effect);
std::unique_ptr<framework::Program> make_program(const framework::StopJob& effect);
std::unique_ptr<framework::Program> make_program(const framework::UngatePod& effect);
std::unique_ptr<framework::Program> make_program(const framework::ChangeFinalizer& effect);
std::unique_ptr<framework::Program> make_program(const framework::PatchWorkloadSpec& effect);
std::unique_ptr<framework::Program> make_program(const framework::AdoptWorkload& effect);
std::unique_ptr<framework::Program> make_program(const framework::RewriteWorkload& effect);

}  // namespace muster::controllers
