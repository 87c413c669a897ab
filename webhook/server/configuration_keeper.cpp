#include "webhook/server/configuration_keeper.h"

#include "client/paths.h"
#include "webhook/configurations.h"
#include "webhook/server/periodic.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::webhook {
namespace {

constexpr Duration kTick = std::chrono::seconds(1);
constexpr int kTicksBetweenRounds = 15;

std::string path_of(const char* plural, std::string_view name) {
  return client::object_path({.group = "admissionregistration.k8s.io", .version = "v1", .plural = plural}, {}, name);
}

}  // namespace

ConfigurationKeeper::ConfigurationKeeper(const client::ApiClient& api, const api::Configuration& configuration,
                                         const std::string& own_namespace, CaSource ca, ReportProblem report)
    : api_(api.with_stop(stop_.get_token())), ca_(std::move(ca)), report_(std::move(report)) {
  kept_.push_back({.path = path_of("mutatingwebhookconfigurations", kMutatingConfiguration),
                   .wanted = std::make_shared<const api::Json>(mutating_configuration(configuration, own_namespace))});
  kept_.push_back(
      {.path = path_of("validatingwebhookconfigurations", kValidatingConfiguration),
       .wanted = std::make_shared<const api::Json>(validating_configuration(configuration, own_namespace))});
}

ConfigurationKeeper::~ConfigurationKeeper() {
  stop();
}

void ConfigurationKeeper::start() {
  thread_ = std::jthread([this] { run(); });
}

void ConfigurationKeeper::stop() {
  stop_.request_stop();
  thread_ = {};
}

Status ConfigurationKeeper::check() {
  const std::string bundle = ca_.self_made ? ca_.pem_bundle() : std::string{};
  if (ca_.self_made && bundle.empty()) {
    return {};  // an object without our CA is of no use; the next tick looks again
  }
  in_line_ = false;
  for (const Kept& kept : kept_) {
    MUSTER_RETURN_IF_ERROR(check_one(kept, bundle));
  }
  in_line_ = true;
  last_bundle_ = bundle;
  idle_rounds_ = 0;
  return {};
}

Status ConfigurationKeeper::check_one(const Kept& kept, const std::string& bundle) {
  MUSTER_TRY(live, api_.get(kept.path));
  const api::Json patch = correction(live, *kept.wanted, bundle);
  if (patch.is_null()) {
    return {};
  }
  const auto patched = api_.patch(kept.path, patch, client::PatchType::kMerge);
  if (!patched.ok()) {
    return patched.error();
  }
  ++corrections_;
  return {};
}

// A tick with nothing to do: neither has the CA changed nor is the time up.
bool ConfigurationKeeper::is_time() {
  const bool same_bundle = last_bundle_ && (!ca_.self_made || *last_bundle_ == ca_.pem_bundle());
  return !same_bundle || ++idle_rounds_ >= kTicksBetweenRounds;
}

void ConfigurationKeeper::run() noexcept {
  run_periodically(stop_.get_token(), kTick, report_, [this] { return is_time() ? check() : Status{}; });
}

}  // namespace muster::webhook
