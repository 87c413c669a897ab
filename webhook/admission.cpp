#include "webhook/admission.h"

#include "api/validation/validate.h"
#include "webhook/job_webhook.h"
#include "webhook/kueue_webhook.h"
#include "webhook/object.h"
#include "webhook/pod_webhook.h"
#include "webhook/review.h"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::webhook {
namespace {

using api::FieldErrors;
using api::Json;

struct Context {
  const AdmissionRequest& request;
  const View& view;
  const Options& options;
};

// What an endpoint finds. Either function may be null.
struct Endpoint {
  std::string_view path{};
  std::string_view kind{};
  Result<Json> (*mutate)(Json object, const Context& context) = nullptr;
  Result<PodFindings> (*validate)(const Context& context) = nullptr;
};

Result<PodFindings> findings(FieldErrors errors) {
  return PodFindings{.errors = std::move(errors)};
}

Result<Json> mutate_job_if_enabled(Json job, const Context& context) {
  return context.options.batch_jobs ? mutate_job(std::move(job), context.view, context.options.jobs)
                                    : Result<Json>(std::move(job));
}

Result<Json> mutate_pod_if_enabled(Json pod, const Context& context) {
  return context.options.pods ? mutate_pod(std::move(pod), context.view, context.options.jobs)
                              : Result<Json>(std::move(pod));
}

Result<PodFindings> validate_job_if_enabled(const Context& context) {
  if (!context.options.batch_jobs) {
    return PodFindings{};
  }
  MUSTER_TRY(errors, validate_job(context.request.object, context.request.old(), context.view, context.options.jobs));
  return findings(std::move(errors));
}

Result<PodFindings> validate_pod_if_enabled(const Context& context) {
  if (!context.options.pods) {
    return PodFindings{};
  }
  return validate_pod(context.request.object, context.request.old(), context.view, context.options.jobs);
}

constexpr std::array<Endpoint, 11> kEndpoints = {{
    {.path = "/mutate-batch-v1-job", .kind = "Job", .mutate = mutate_job_if_enabled},
    {.path = "/validate-batch-v1-job", .kind = "Job", .validate = validate_job_if_enabled},
    {.path = "/mutate--v1-pod", .kind = "Pod", .mutate = mutate_pod_if_enabled},
    {.path = "/validate--v1-pod", .kind = "Pod", .validate = validate_pod_if_enabled},
    {.path = "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue",
     .kind = "ClusterQueue",
     .mutate = [](Json object, const Context& /*context*/) { return protect_in_use(std::move(object)); }},
    {.path = "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
     .kind = "ResourceFlavor",
     .mutate = [](Json object, const Context& /*context*/) { return protect_in_use(std::move(object)); }},
    {.path = "/mutate-kueue-x-k8s-io-v1beta2-workload",
     .kind = "Workload",
     .mutate =
         [](Json object, const Context& context) {
           return context.options.partial_admission ? Result<Json>(std::move(object))
                                                    : without_min_counts(std::move(object));
         }},
    {.path = "/validate-kueue-x-k8s-io-v1beta2-clusterqueue",
     .kind = "ClusterQueue",
     .validate =
         [](const Context& c) {
           return findings(api::validate_cluster_queue(c.request.object, c.request.old(), c.options.gates));
         }},
    {.path = "/validate-kueue-x-k8s-io-v1beta2-cohort",
     .kind = "Cohort",
     .validate = [](const Context& c) { return findings(api::validate_cohort(c.request.object)); }},
    {.path = "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
     .kind = "ResourceFlavor",
     .validate = [](const Context& c) { return findings(api::validate_resource_flavor(c.request.object)); }},
    {.path = "/validate-kueue-x-k8s-io-v1beta2-workload",
     .kind = "Workload",
     .validate =
         [](const Context& c) {
           return findings(api::validate_workload(c.request.object, c.request.old(), c.options.gates));
         }},
}};

// Kueue's other job kinds: a configuration of Kueue's that still points here must not stop them.
constexpr std::array<std::string_view, 16> kKindsWithoutRules = {
    "jobset-x-k8s-io-v1alpha2-jobset",
    "kubeflow-org-v2beta1-mpijob",
    "kubeflow-org-v1-tfjob",
    "kubeflow-org-v1-pytorchjob",
    "kubeflow-org-v1-xgboostjob",
    "kubeflow-org-v1-paddlejob",
    "kubeflow-org-v1-jaxjob",
    "trainer-kubeflow-org-v1alpha1-trainjob",
    "ray-io-v1-rayjob",
    "ray-io-v1-raycluster",
    "ray-io-v1-rayservice",
    "workload-codeflare-dev-v1beta2-appwrapper",
    "sparkoperator-k8s-io-v1beta2-sparkapplication",
    "apps-v1-deployment",
    "apps-v1-statefulset",
    "leaderworkerset-x-k8s-io-v1-leaderworkerset",
};

const Endpoint* find_endpoint(std::string_view path) {
  const auto* found = std::find_if(kEndpoints.begin(), kEndpoints.end(),
                                   [&](const Endpoint& endpoint) { return endpoint.path == path; });
  return found == kEndpoints.end() ? nullptr : found;
}

bool allows_everything(std::string_view path) {
  for (const std::string_view prefix : {"/mutate-", "/validate-"}) {
    if (path.substr(0, prefix.size()) == prefix) {
      const std::string_view kind = path.substr(prefix.size());
      return std::find(kKindsWithoutRules.begin(), kKindsWithoutRules.end(), kind) != kKindsWithoutRules.end();
    }
  }
  return false;
}

Result<Answer> mutate(const Endpoint& endpoint, const Context& context) {
  if (context.request.operation != Operation::kCreate) {
    return Answer{};
  }
  MUSTER_TRY(object, endpoint.mutate(context.request.object, context));
  Answer answer;
  answer.patch = Json::diff(context.request.object, object);
  return answer;
}

Result<Answer> validate(const Endpoint& endpoint, const Context& context) {
  MUSTER_TRY(found, endpoint.validate(context));
  Answer answer = found.errors.empty() ? Answer{} : denied(403, "Forbidden", to_string(found.errors));
  answer.warnings = std::move(found.warnings);
  return answer;
}

Result<Answer> answer_for(const Endpoint& endpoint, const Context& context) {
  const Operation operation = context.request.operation;
  if (operation != Operation::kCreate && operation != Operation::kUpdate) {
    return Answer{};
  }
  const Json& kind = member(context.request.object, "kind");
  if (kind != endpoint.kind) {
    return denied(400, "BadRequest",
                  "kind: must be \"" + std::string(endpoint.kind) + "\" at " + std::string(endpoint.path));
  }
  Result<Answer> answer = endpoint.mutate != nullptr ? mutate(endpoint, context) : validate(endpoint, context);
  if (!answer.ok() && answer.error().code == ErrorCode::kInvalid) {
    return denied(400, "BadRequest", to_string(answer.error()));
  }
  return answer;
}

}  // namespace

bool is_endpoint(std::string_view path) {
  return find_endpoint(path) != nullptr || allows_everything(path);
}

Result<std::string> review(std::string_view path, std::string_view body, const View& view, const Options& options) {
  if (!is_endpoint(path)) {
    return Error{.code = ErrorCode::kNotFound, .message = "no webhook at this path"};
  }
  MUSTER_TRY(request, decode_review(body));
  const Endpoint* endpoint = find_endpoint(path);
  if (endpoint == nullptr) {
    return encode_review(request.uid, Answer{});
  }
  MUSTER_TRY(answer, answer_for(*endpoint, {.request = request, .view = view, .options = options}));
  return encode_review(request.uid, answer);
}

}  // namespace muster::webhook
