#include "api/config/configuration.h"

#include "api/codec/parts.h"
#include "api/codec/yaml.h"
#include "api/config/sections.h"
#include "api/validation/field_error.h"

#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

constexpr std::string_view kVersion = "config.kueue.x-k8s.io/v1beta2";

Error refused(const FieldErrors& errors) {
  if (errors.size() == 1) {
    return invalid(errors.front().text, errors.front().path);
  }
  return invalid(to_string(errors));
}

Status check_type(const Json& document) {
  if (!document.is_object()) {
    return invalid("a Configuration must be a map");
  }
  const std::string version =
      document.value("apiVersion", Json()).is_string() ? document["apiVersion"].get<std::string>() : "";
  if (version == "config.kueue.x-k8s.io/v1beta1") {
    return invalid("v1beta1 is not read: write apiVersion " + std::string(kVersion), "apiVersion");
  }
  if (version != kVersion) {
    return invalid("must be " + std::string(kVersion) + ", found \"" + version + "\"", "apiVersion");
  }
  if (document.value("kind", Json()) != Json("Configuration")) {
    return invalid("must be Configuration", "kind");
  }
  return {};
}

void allow_top_level(const Reader& root) {
  root.allow_only({"apiVersion",
                   "kind",
                   "namespace",
                   "manageJobsWithoutQueueName",
                   "managedJobsNamespaceSelector",
                   "webhook",
                   "leaderElection",
                   "metrics",
                   "health",
                   "pprofBindAddress",
                   "controller",
                   "tls",
                   "internalCertManagement",
                   "waitForPodsReady",
                   "clientConnection",
                   "integrations",
                   "multiKueue",
                   "fairSharing",
                   "admissionFairSharing",
                   "resources",
                   "featureGates",
                   "objectRetentionPolicies",
                   "visibilityServer",
                   "muster"});
}

Configuration read(const Reader& root) {
  allow_top_level(root);
  Configuration config{.ns = root.text("namespace"),
                       .manage_jobs_without_queue_name = root.boolean("manageJobsWithoutQueueName"),
                       .managed_jobs_namespace_selector = read_strict_selector(root, "managedJobsNamespaceSelector"),
                       .webhook = read_webhook(root),
                       .leader_election = read_leader_election(root),
                       .metrics = read_metrics(root),
                       .health = read_health(root),
                       .pprof_bind_address = root.text("pprofBindAddress"),
                       .tls = read_tls(root),
                       .internal_cert_management = read_certificates(root),
                       .wait_for_pods_ready = read_wait_for_pods_ready(root),
                       .client_connection = read_client_connection(root),
                       .integrations = read_integrations(root),
                       .multi_kueue = read_multi_kueue(root),
                       .fair_sharing = read_fair_sharing(root),
                       .admission_fair_sharing = read_admission_fair_sharing(root),
                       .resources = read_resources(root),
                       .feature_gates = read_feature_gates(root),
                       .retention = read_retention(root),
                       .visibility = read_visibility(root),
                       .muster = read_muster(root)};
  const Reader controller = root.child("controller");
  controller.allow_only({"groupKindConcurrency", "cacheSyncTimeout"});
  config.cache_sync_timeout_ns = controller.maybe_int64("cacheSyncTimeout");
  config.group_kind_concurrency = read_int32_map(controller, "groupKindConcurrency");
  if (const auto gate = config.feature_gates.find("DisableWaitForPodsReady");
      gate != config.feature_gates.end() && gate->second) {
    config.wait_for_pods_ready.reset();
  }
  return config;
}

}  // namespace

Result<Configuration> parse_configuration(std::string_view yaml) {
  MUSTER_TRY(documents, yaml_to_json(yaml));
  if (documents.size() > 1) {
    return invalid("a configuration file holds one document, found " + std::to_string(documents.size()));
  }
  if (documents.empty()) {
    return Configuration{};
  }
  MUSTER_RETURN_IF_ERROR(check_type(documents.front()));
  Problems problems;
  Configuration decoded = read(Reader(documents.front(), problems));
  MUSTER_TRY(config, std::move(problems).finish(std::move(decoded)));
  if (const FieldErrors errors = validate_configuration(config, documents.front()); !errors.empty()) {
    return refused(errors);
  }
  return config;
}

LabelSelector managed_namespaces(const Configuration& configuration, const std::string& own_namespace) {
  if (configuration.managed_jobs_namespace_selector) {
    return *configuration.managed_jobs_namespace_selector;
  }
  return {.match_expressions = {
              {.key = "kubernetes.io/metadata.name", .op = "NotIn", .values = {"kube-system", own_namespace}}}};
}

}  // namespace muster::api
