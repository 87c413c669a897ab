#include "cmd/explain/target.h"

#include "api/constants.h"

#include <map>
#include <optional>

namespace muster::cmd {
namespace {

const std::map<std::string_view, TargetKind>& kinds() {
  static const std::map<std::string_view, TargetKind> kKinds = {{"workload", TargetKind::kWorkload},
                                                                {"workloads", TargetKind::kWorkload},
                                                                {"wl", TargetKind::kWorkload},
                                                                {"workload.kueue.x-k8s.io", TargetKind::kWorkload},
                                                                {"job", TargetKind::kJob},
                                                                {"jobs", TargetKind::kJob},
                                                                {"job.batch", TargetKind::kJob},
                                                                {"jobs.batch", TargetKind::kJob},
                                                                {"pod", TargetKind::kPod},
                                                                {"pods", TargetKind::kPod},
                                                                {"po", TargetKind::kPod},
                                                                {"workloads.kueue.x-k8s.io", TargetKind::kWorkload}};
  return kKinds;
}

Error not_found(std::string message) {
  return {.code = ErrorCode::kNotFound, .message = std::move(message)};
}

// The Workload of a job, or why there is none.
template <class Owner>
std::optional<Result<ObjectKey>> workload_of(const framework::Model& model, const ObjectKey& key, const char* kind) {
  const auto* owner = model.objects().find<Owner>(key);
  if (owner == nullptr) {
    return std::nullopt;
  }
  const api::OwnerReference* controller = api::controller_of(owner->meta);  // of a Job's pod: the Job
  for (const Uid& uid : {owner->meta.uid, controller == nullptr ? Uid() : controller->uid}) {
    if (const auto& workloads = model.objects().workloads_of(uid); !uid.empty() && !workloads.empty()) {
      return Result<ObjectKey>(*workloads.begin());
    }
  }
  const std::string name = std::string(kind) + " " + to_string(key);
  if (api::find(owner->meta.labels, std::string(api::kQueueNameLabel)) == nullptr) {
    return Result<ObjectKey>(
        not_found(name + " names no queue (label " + std::string(api::kQueueNameLabel) + "), and has no Workload"));
  }
  return Result<ObjectKey>(not_found(name + " has no Workload (yet): is the manager running?"));
}

}  // namespace

Result<Target> parse_target(std::string_view text, const std::string& ns) {
  Target target{.key = {ns, std::string(text)}};
  if (const std::size_t slash = text.find('/'); slash != std::string_view::npos) {
    const auto kind = kinds().find(text.substr(0, slash));
    if (kind == kinds().end()) {
      return invalid("\"" + std::string(text.substr(0, slash)) + "\" is not workload, job or pod");
    }
    target.kind = kind->second;
    target.key.name = text.substr(slash + 1);
  }
  if (target.key.name.empty() || target.key.name.find('/') != std::string::npos) {
    return invalid("\"" + std::string(text) + "\" is not of the form NAME, workload/NAME, job/NAME or pod/NAME");
  }
  return target;
}

Result<ObjectKey> find_workload(const framework::Model& model, const Target& target) {
  const bool any = target.kind == TargetKind::kAny;
  if ((any || target.kind == TargetKind::kWorkload) && model.workload(target.key) != nullptr) {
    return target.key;
  }
  if (any || target.kind == TargetKind::kJob) {
    if (auto found = workload_of<api::Job>(model, target.key, "Job")) {
      return *std::move(found);
    }
  }
  if (any || target.kind == TargetKind::kPod) {
    if (auto found = workload_of<api::Pod>(model, target.key, "Pod")) {
      return *std::move(found);
    }
  }
  const char* what = any                                    ? "Workload, Job or Pod"
                     : target.kind == TargetKind::kWorkload ? "Workload"
                     : target.kind == TargetKind::kJob      ? "Job"
                                                            : "Pod";
  return not_found(std::string("there is no ") + what + " " + to_string(target.key));
}

}  // namespace muster::cmd
