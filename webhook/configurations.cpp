#include "webhook/configurations.h"

#include "api/codec/encode.h"
#include "api/constants.h"
#include "webhook/object.h"
#include "webhook/options.h"
#include "webhook/review.h"

#include <nlohmann/json.hpp>

#include <utility>
#include <vector>

namespace muster::webhook {
namespace {

using api::Json;

// Which objects of a rule are sent.
enum class Scope {
  kAll,        // our own kinds
  kJobs,       // what the configuration concerns
  kJobLabels,  // the same; of updates only those that change labels or annotations
};

struct Hook {
  std::string_view name{};
  std::string_view path{};
  std::string_view group{};
  std::string_view version{};
  std::vector<std::string> resources{};
  Scope scope = Scope::kAll;
};

enum class Verb { kMutate, kValidate };

std::vector<Hook> kueue_hooks(Verb verb) {
  const std::string_view group = api::kKueueGroup;
  if (verb == Verb::kMutate) {
    return {{"mclusterqueue.kb.io", "/mutate-kueue-x-k8s-io-v1beta2-clusterqueue", group, "v1beta2", {"clusterqueues"}},
            {"mresourceflavor.kb.io",
             "/mutate-kueue-x-k8s-io-v1beta2-resourceflavor",
             group,
             "v1beta2",
             {"resourceflavors"}},
            {"mworkload.kb.io", "/mutate-kueue-x-k8s-io-v1beta2-workload", group, "v1beta2", {"workloads"}}};
  }
  return {{"vclusterqueue.kb.io", "/validate-kueue-x-k8s-io-v1beta2-clusterqueue", group, "v1beta2", {"clusterqueues"}},
          {"vcohort.kb.io", "/validate-kueue-x-k8s-io-v1beta2-cohort", group, "v1beta2", {"cohorts"}},
          {"vresourceflavor.kb.io",
           "/validate-kueue-x-k8s-io-v1beta2-resourceflavor",
           group,
           "v1beta2",
           {"resourceflavors"}},
          {"vworkload.kb.io",
           "/validate-kueue-x-k8s-io-v1beta2-workload",
           group,
           "v1beta2",
           {"workloads", "workloads/status"}}};
}

std::vector<Hook> hooks_of(Verb verb, const api::Configuration& configuration) {
  std::vector<Hook> hooks = kueue_hooks(verb);
  const bool mutates = verb == Verb::kMutate;
  if (has_framework(configuration, "batch/job")) {
    hooks.push_back({mutates ? "mjob.kb.io" : "vjob.kb.io",
                     mutates ? "/mutate-batch-v1-job" : "/validate-batch-v1-job",
                     "batch",
                     "v1",
                     {"jobs"},
                     Scope::kJobs});
  }
  if (has_framework(configuration, "pod")) {
    hooks.push_back({mutates ? "mpod.kb.io" : "vpod.kb.io",
                     mutates ? "/mutate--v1-pod" : "/validate--v1-pod",
                     "",
                     "v1",
                     {"pods"},
                     mutates ? Scope::kJobs : Scope::kJobLabels});
  }
  return hooks;
}

// Objects without a queue label matter only if the configuration gives them a queue or manages them anyway.
Json object_selector(const api::Configuration& configuration) {
  if (configuration.manage_jobs_without_queue_name || configuration.muster.default_local_queue) {
    return Json::object();
  }
  return api::encode(api::LabelSelector{.match_expressions = {{.key = api::kQueueNameLabel, .op = "Exists"}}});
}

Json match_conditions(Scope scope) {
  Json conditions = Json::array();
  conditions.push_back({{"name", "not-being-deleted"}, {"expression", "!has(object.metadata.deletionTimestamp)"}});
  if (scope == Scope::kJobLabels) {
    conditions.push_back({{"name", "labels-or-annotations-set"},
                          {"expression",
                           "request.operation == 'CREATE' "
                           "|| object.metadata.?labels != oldObject.metadata.?labels "
                           "|| object.metadata.?annotations != oldObject.metadata.?annotations"}});
  }
  return conditions;
}

Json client_config(const Hook& hook, const api::Configuration& configuration, const std::string& own_namespace) {
  return {{"service",
           {{"name", configuration.internal_cert_management.webhook_service_name},
            {"namespace", own_namespace},
            {"path", std::string(hook.path)},
            {"port", 443}}}};
}

Json rule_of(const Hook& hook, Verb verb) {
  Json operations = Json::array({"CREATE"});
  if (verb == Verb::kValidate) {
    operations.push_back("UPDATE");
  }
  return {{"apiGroups", Json::array({std::string(hook.group)})},
          {"apiVersions", Json::array({std::string(hook.version)})},
          {"resources", hook.resources},
          {"operations", std::move(operations)}};
}

Json webhook_of(const Hook& hook, Verb verb, const api::Configuration& configuration,
                const std::string& own_namespace) {
  Json webhook = {{"name", std::string(hook.name)},
                  {"admissionReviewVersions", Json::array({"v1"})},
                  {"clientConfig", client_config(hook, configuration, own_namespace)},
                  {"rules", Json::array({rule_of(hook, verb)})},
                  {"failurePolicy", "Fail"},
                  {"matchPolicy", "Equivalent"},
                  {"sideEffects", "None"},
                  {"timeoutSeconds", 10}};
  if (verb == Verb::kMutate) {
    webhook["reinvocationPolicy"] = "Never";
  } else {
    webhook["matchConditions"] = match_conditions(hook.scope);
  }
  if (hook.scope != Scope::kAll) {
    webhook["namespaceSelector"] = api::encode(api::managed_namespaces(configuration, own_namespace));
    webhook["objectSelector"] = object_selector(configuration);
  }
  return webhook;
}

Json configuration_of(Verb verb, const api::Configuration& configuration, const std::string& own_namespace) {
  Json webhooks = Json::array();
  for (const Hook& hook : hooks_of(verb, configuration)) {
    webhooks.push_back(webhook_of(hook, verb, configuration, own_namespace));
  }
  const bool mutates = verb == Verb::kMutate;
  return {{"apiVersion", "admissionregistration.k8s.io/v1"},
          {"kind", mutates ? "MutatingWebhookConfiguration" : "ValidatingWebhookConfiguration"},
          {"metadata",
           {{"name", std::string(mutates ? kMutatingConfiguration : kValidatingConfiguration)},
            {"labels", {{"app.kubernetes.io/name", "muster"}}}}},
          {"webhooks", std::move(webhooks)}};
}

void set_default(Json& object, const char* key, Json value) {
  if (member(object, key).is_null()) {
    object[key] = std::move(value);
  }
}

void fill_webhook(Json& webhook, bool mutates) {
  set_default(webhook, "failurePolicy", "Fail");
  set_default(webhook, "matchPolicy", "Equivalent");
  set_default(webhook, "timeoutSeconds", 10);
  set_default(webhook, "namespaceSelector", Json::object());
  set_default(webhook, "objectSelector", Json::object());
  set_default(webhook, "matchConditions", Json::array());
  if (mutates) {
    set_default(webhook, "reinvocationPolicy", "Never");
  }
  if (member(webhook, "clientConfig", "service").is_object()) {
    set_default(webhook["clientConfig"]["service"], "port", 443);
  }
  if (member(webhook, "rules").is_array()) {
    for (Json& rule : webhook["rules"]) {
      if (rule.is_object()) {
        set_default(rule, "scope", "*");
      }
    }
  }
}

// What the webhook of that name has in `live` under clientConfig, or null.
Json live_client_config(const Json& live, const Json& name, const char* field) {
  for (const Json& webhook : member(live, "webhooks")) {
    if (member(webhook, "name") == name) {
      return member(webhook, "clientConfig", field);
    }
  }
  return nullptr;
}

}  // namespace

Json mutating_configuration(const api::Configuration& configuration, const std::string& own_namespace) {
  return configuration_of(Verb::kMutate, configuration, own_namespace);
}

Json validating_configuration(const api::Configuration& configuration, const std::string& own_namespace) {
  return configuration_of(Verb::kValidate, configuration, own_namespace);
}

Json with_api_defaults(Json configuration) {
  const bool mutates = member(configuration, "kind") == "MutatingWebhookConfiguration";
  if (member(configuration, "webhooks").is_array()) {
    for (Json& webhook : configuration["webhooks"]) {
      if (webhook.is_object()) {
        fill_webhook(webhook, mutates);
      }
    }
  }
  return configuration;
}

Json correction(const Json& live, const Json& wanted, std::string_view ca_bundle) {
  Json target = with_api_defaults(wanted);
  for (Json& webhook : target["webhooks"]) {
    const Json url = live_client_config(live, webhook["name"], "url");
    if (url.is_string()) {  // we run outside the cluster, where no Service leads to us
      webhook["clientConfig"] = {{"url", url}};
    }
    const Json bundle = ca_bundle.empty() ? live_client_config(live, webhook["name"], "caBundle")
                                          : Json(encode_base64(ca_bundle));
    if (!bundle.is_null()) {
      webhook["clientConfig"]["caBundle"] = bundle;
    }
  }
  if (member(with_api_defaults(live), "webhooks") == target["webhooks"]) {
    return nullptr;
  }
  return {{"metadata", {{"resourceVersion", member(live, "metadata", "resourceVersion")}}},
          {"webhooks", std::move(target["webhooks"])}};
}

}  // namespace muster::webhook
