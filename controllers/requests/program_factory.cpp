#include "controllers/requests/program_factory.h"

#include "controllers/requests/bind_program.h"
#include "controllers/requests/create_program.h"
#include "controllers/requests/job_programs.h"
#include "controllers/requests/one_shot_program.h"
#include "controllers/requests/status_program.h"

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace muster::controllers {
namespace {

using framework::Program;

struct Maker {
  const ProgramOptions& options;
  TimePoint now{};

  std::unique_ptr<Program> operator()(const framework::CreateWorkload& effect) const {
    return std::make_unique<CreateProgram>(effect, options.label_keys_to_copy);
  }

  std::unique_ptr<Program> operator()(const framework::PatchWorkloadStatus& effect) const {
    return std::make_unique<StatusProgram>(effect);
  }

  std::unique_ptr<Program> operator()(const framework::PatchClusterQueueStatus& effect) const {
    return std::make_unique<OneShotProgram>(status_program(effect));
  }

  std::unique_ptr<Program> operator()(const framework::PatchLocalQueueStatus& effect) const {
    return std::make_unique<OneShotProgram>(status_program(effect));
  }

  std::unique_ptr<Program> operator()(const framework::PatchCohortStatus& effect) const {
    return std::make_unique<OneShotProgram>(status_program(effect));
  }

  std::unique_ptr<Program> operator()(const framework::PatchPodCondition& effect) const {
    return std::make_unique<OneShotProgram>(condition_program(effect));
  }

  std::unique_ptr<Program> operator()(const framework::DeleteObject& effect) const {
    return std::make_unique<OneShotProgram>(delete_program(effect));
  }

  std::unique_ptr<Program> operator()(const framework::EmitEvent& effect) const {
    return std::make_unique<OneShotProgram>(event_program(effect, options.instance, now));
  }

  std::unique_ptr<Program> operator()(const framework::BindPod& effect) const {
    return std::make_unique<BindProgram>(effect);
  }

  template <class Effect>
  std::unique_ptr<Program> operator()(const Effect& effect) const {
    return make_program(effect);
  }
};

}  // namespace

framework::ProgramFactory make_program_factory(ProgramOptions options) {
  return [options = std::move(options)](const framework::Effect& effect, TimePoint now) {
    return std::visit(Maker{.options = options, .now = now}, effect.body);
  };
}

}  // namespace muster::controllers
