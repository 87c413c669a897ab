// One reader a section of the configuration file, and the checks over all of them. Internal to api/config.
#pragma once

#include "api/codec/reader.h"
#include "api/config/configuration.h"
#include "api/validation/field_error.h"

namespace muster::api {

// Each takes the root of the file.
WebhookConfig read_webhook(const Reader& root);
LeaderElectionConfig read_leader_election(const Reader& root);
MetricsConfig read_metrics(const Reader& root);
HealthConfig read_health(const Reader& root);
TlsConfig read_tls(const Reader& root);
CertificateConfig read_certificates(const Reader& root);
std::optional<WaitForPodsReadyConfig> read_wait_for_pods_ready(const Reader& root);
ClientConnectionConfig read_client_connection(const Reader& root);
IntegrationsConfig read_integrations(const Reader& root);
MultiKueueConfig read_multi_kueue(const Reader& root);
std::optional<FairSharingConfig> read_fair_sharing(const Reader& root);
std::optional<AdmissionFairSharingConfig> read_admission_fair_sharing(const Reader& root);
ResourcesConfig read_resources(const Reader& root);
std::map<std::string, bool> read_feature_gates(const Reader& root);
RetentionConfig read_retention(const Reader& root);
VisibilityConfig read_visibility(const Reader& root);
MusterConfig read_muster(const Reader& root);

std::optional<LabelSelector> read_strict_selector(const Reader& parent, std::string_view key);
std::map<std::string, std::int32_t> read_int32_map(const Reader& parent, std::string_view key);
std::map<std::string, double> read_number_map(const Reader& parent, std::string_view key);

// What decoding does not see; `document` for checks that need to tell absent from empty.
FieldErrors validate_configuration(const Configuration& config, const Json& document);

}  // namespace muster::api
