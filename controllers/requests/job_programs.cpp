#include "controllers/requests/job_programs.h"

#include "api/constants.h"
#include "controllers/requests/edit_program.h"
#include "controllers/requests/job_json.h"
#include "controllers/requests/json_edit.h"
#include "controllers/requests/workload_json.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace muster::controllers {
namespace {

using api::Json;
using framework::Kind;

Error job_is_gone(const framework::ObjectRef& job) {
  return {.code = ErrorCode::kNotFound, .message = "the job " + to_string(job.key) + " is gone"};
}

class StartJobProgram final : public EditProgram {
 public:
  explicit StartJobProgram(const framework::StartJob& effect)
      : EditProgram(effect.job, effect.event, Absent::kIsError), infos_(effect.pod_sets) {}

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    return next_start_edit(*found.object, infos_);
  }

  std::vector<framework::PodSetInfo> infos_;
};

class StopJobProgram final : public EditProgram {
 public:
  explicit StopJobProgram(const framework::StopJob& effect)
      : EditProgram(effect.job, effect.event, Absent::kIsDone),
        restore_(effect.workload ? Restore::kYes : Restore::kNo) {
    if (effect.workload) {
      read_first(*effect.workload);
    }
  }

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    return next_stop_edit(*found.object, restore_, found.other);
  }

  Restore restore_;
};

class UngatePodProgram final : public EditProgram {
 public:
  explicit UngatePodProgram(const framework::UngatePod& effect)
      : EditProgram(effect.pod, effect.event, Absent::kIsError), gate_(effect.gate), info_(effect.info) {}

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    const Json* gates = find_at(*found.object, {"spec", "schedulingGates"});
    if (gates == nullptr || !gates->is_array()) {
      return std::optional<Edit>();
    }
    Json left = Json::array();
    for (const Json& gate : *gates) {
      if (text_at(gate, {"name"}) != gate_) {
        left.push_back(gate);
      }
    }
    if (left.size() == gates->size()) {
      return std::optional<Edit>();
    }
    Json pod = *found.object;
    MUSTER_RETURN_IF_ERROR(merge_info(info_, pod));
    pod["spec"]["schedulingGates"] = std::move(left);
    return std::optional(Edit{.object = std::move(pod)});
  }

  std::string gate_;
  framework::PodSetInfo info_;
};

class ChangeFinalizerProgram final : public EditProgram {
 public:
  explicit ChangeFinalizerProgram(const framework::ChangeFinalizer& effect)
      : EditProgram(effect.object, std::nullopt, Absent::kIsDone),
        finalizer_(effect.finalizer),
        wanted_(effect.change == framework::FinalizerChange::kAdd) {}

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    Json finalizers = Json::array();
    if (const Json* have = find_at(*found.object, {"metadata", "finalizers"}); have != nullptr && have->is_array()) {
      finalizers = *have;
    }
    const auto at = std::find(finalizers.begin(), finalizers.end(), Json(finalizer_));
    const bool deleting = find_at(*found.object, {"metadata", "deletionTimestamp"}) != nullptr;
    if ((at != finalizers.end()) == wanted_ || (wanted_ && deleting)) {
      return std::optional<Edit>();
    }
    if (wanted_) {
      finalizers.push_back(finalizer_);
    } else {
      finalizers.erase(at);
    }
    Json object = *found.object;
    object["metadata"]["finalizers"] = std::move(finalizers);
    return std::optional(Edit{.object = std::move(object)});
  }

  std::string finalizer_;
  bool wanted_;
};

class PatchSpecProgram final : public EditProgram {
 public:
  explicit PatchSpecProgram(const framework::PatchWorkloadSpec& effect)
      : EditProgram(effect.workload, effect.event, Absent::kIsError), effect_(effect) {}

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    Json workload = *found.object;
    Json& spec = object_at(workload, {"spec"});
    if (effect_.queue_name) {
      spec["queueName"] = effect_.queue_name->str();
    }
    if (effect_.active) {
      spec["active"] = *effect_.active;
    }
    if (effect_.priority) {
      spec["priority"] = *effect_.priority;
    }
    if (effect_.priority_class) {
      spec["priorityClassRef"] = {{"group", effect_.priority_class->group},
                                  {"kind", effect_.priority_class->kind},
                                  {"name", effect_.priority_class->name}};
    }
    if (effect_.admission_gated_by && effect_.admission_gated_by->empty()) {
      erase_at(workload, {"metadata", "annotations"}, api::kAdmissionGatedByAnnotation);
    } else if (effect_.admission_gated_by) {
      object_at(workload, {"metadata", "annotations"})[api::kAdmissionGatedByAnnotation] = *effect_.admission_gated_by;
    }
    if (workload == *found.object) {
      return std::optional<Edit>();
    }
    return std::optional(Edit{.object = std::move(workload)});
  }

  framework::PatchWorkloadSpec effect_;
};

class AdoptProgram final : public EditProgram {
 public:
  explicit AdoptProgram(const framework::AdoptWorkload& effect)
      : EditProgram(effect.workload, std::nullopt, Absent::kIsError), effect_(effect) {
    read_first(effect.job);
  }

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    if (found.other == nullptr) {
      return job_is_gone(effect_.job);
    }
    std::optional<Json> workload = adopted_workload(effect_, *found.other, *found.object);
    if (!workload) {
      return Error{.code = ErrorCode::kConflict, .message = "the Workload has another controller"};
    }
    if (*workload == *found.object) {
      return std::optional<Edit>();
    }
    return std::optional(Edit{.object = *std::move(workload)});
  }

  framework::AdoptWorkload effect_;
};

class RewriteProgram final : public EditProgram {
 public:
  explicit RewriteProgram(const framework::RewriteWorkload& effect)
      : EditProgram(effect.workload, effect.event, Absent::kIsError), effect_(effect) {
    read_first(effect.job);
  }

 private:
  Result<std::optional<Edit>> next_edit(const Found& found) const override {
    if (found.other == nullptr) {
      return job_is_gone(effect_.job);
    }
    if (has_true_condition(*found.object, "QuotaReserved")) {
      return Error{.code = ErrorCode::kConflict, .message = "the Workload holds quota: its podsets cannot change"};
    }
    Json workload = rewritten_workload(effect_, *found.other, *found.object);
    if (workload == *found.object) {
      return std::optional<Edit>();
    }
    return std::optional(Edit{.object = std::move(workload)});
  }

  framework::RewriteWorkload effect_;
};

}  // namespace

std::unique_ptr<framework::Program> make_program(const framework::StartJob& effect) {
  return std::make_unique<StartJobProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::StopJob& effect) {
  return std::make_unique<StopJobProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::UngatePod& effect) {
  return std::make_unique<UngatePodProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::ChangeFinalizer& effect) {
  return std::make_unique<ChangeFinalizerProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::PatchWorkloadSpec& effect) {
  return std::make_unique<PatchSpecProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::AdoptWorkload& effect) {
  return std::make_unique<AdoptProgram>(effect);
}

std::unique_ptr<framework::Program> make_program(const framework::RewriteWorkload& effect) {
  return std::make_unique<RewriteProgram>(effect);
}

}  // namespace muster::controllers
