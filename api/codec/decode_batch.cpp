#include "api/batch/job.h"
#include "api/codec/decode.h"
#include "api/codec/parts.h"

namespace muster::api {

template <>
Result<Job> decode(const Json& object) {
  Problems problems;
  const Reader root(object, problems);
  const Reader spec = root.child("spec");
  const Reader status = root.child("status");
  Job job{.meta = read_meta(root),
          .suspend = spec.boolean("suspend"),
          .parallelism = spec.int32("parallelism", 1),
          .completions = spec.maybe_int32("completions"),
          .completion_mode = spec.text("completionMode"),
          .managed_by = spec.text("managedBy"),
          .pod_template = read_pod_template(spec.child("template")),
          .conditions = read_conditions(status),
          .active = status.int32("active"),
          .ready = status.int32("ready"),
          .succeeded = status.int32("succeeded"),
          .failed = status.int32("failed"),
          .terminating = status.int32("terminating"),
          .start_time = status.maybe_time("startTime")};
  const std::vector<std::string> uncounted = status.child("uncountedTerminatedPods").strings("succeeded");
  job.uncounted_succeeded = static_cast<std::int32_t>(uncounted.size());
  return std::move(problems).finish(std::move(job));
}

}  // namespace muster::api
