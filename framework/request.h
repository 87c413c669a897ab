// How an effect becomes API requests, without I/O: a Program is a small state machine that is fed replies. The live
// executor (client/) and the simulator (sim/) run the same programs, so what is written is the same in both.
// Programs are made by controllers/requests and handed to executors as a ProgramFactory.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "framework/effects.h"

namespace muster::framework {

struct ApiRequest {
  std::string method{};  // GET, POST, PATCH, PUT, DELETE
  std::string path{};    // /apis/batch/v1/namespaces/a/jobs/b, with query
  std::string content_type{};
  std::string body{};
  bool replay_safe = false;  // repeating it after a lost answer does no harm
};

struct ApiReply {
  int status = 0;
  std::string body{};
};

// The end of a program. `events` tell users what was really written (nothing when it was there already): whoever runs
// the program emits them as EmitEvent effects of their own, in the lane that may drop.
struct ProgramDone {
  std::shared_ptr<const api::Workload> workload{};
  std::vector<EmitEvent> events{};
  std::string written_version{};  // as in EffectDone
};
struct ProgramFailed {
  Error error{};
  std::shared_ptr<const api::Workload> workload{};
};

using Step = std::variant<ApiRequest, ProgramDone, ProgramFailed>;

// One effect's requests. `start` once, then `resume` with each reply (or with the transport's error once the executor
// has given up repeating the request) until a step ends it. Not thread-safe; one owner.
class Program {
 public:
  virtual ~Program() = default;
  virtual Step start() = 0;
  virtual Step resume(const Result<ApiReply>& reply) = 0;
};

// `now` is the time written into events and conditions by the executor's clock.
using ProgramFactory = std::function<std::unique_ptr<Program>(const Effect&, TimePoint now)>;

}  // namespace muster::framework
