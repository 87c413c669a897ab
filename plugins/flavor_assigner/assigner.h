// One run of flavor assignment for one Workload (spec/admission.md §3.2, §3.3, §3.9). Lives for one Filter call.
#pragma once

#include "framework/points.h"
#include "plugins/flavor_assigner/flavor_assigner.h"
#include "plugins/flavor_assigner/fungibility.h"
#include "plugins/flavor_assigner/quota_check.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace muster::plugins {

class Assigner {
 public:
  // Borrows all three for its own lifetime.
  Assigner(const framework::FilterContext& context, const api::ClusterQueue& queue, const FlavorAssignerArgs& args);

  // Podsets after one that cannot be served are not looked at, and absent from the result (but see `survey`).
  framework::Assignment run();
  // What may turn the outcome into a better one. After `run`.
  std::vector<framework::Wake> wakes() const;

 private:
  // A flavor tried for the requests of a podset in one resource group.
  struct Attempt {
    Grade grade{};
    std::map<std::string, framework::FlavorChoice> choices{};  // by resource
    std::vector<std::string> reasons{};
    std::string_view no_fit_class{};  // of kNoFit
  };

  // The podset at hand.
  struct PodSetRun {
    const framework::PodSetTotals* totals = nullptr;
    const api::PodSpec* pod = nullptr;
    api::ResourceAmounts requests{};  // with `pods` where a resource group covers it
    framework::PodSetChoice choice{};
    framework::FitMode mode = framework::FitMode::kFit;
    bool lacks_nodes = false;
    std::map<std::size_t, std::string> no_fit_classes{};  // by resource group: the least severe of the flavors tried
  };

  PodSetRun start(const framework::PodSetTotals& totals) const;
  // For `explain`: what every flavor would answer, without any effect on the outcome.
  void survey(const PodSetRun& run) const;
  void survey_flavor(const PodSetRun& run, const api::ResourceGroup& group, const FlavorName& flavor) const;
  QuotaQuestion question(const PodSetRun& run, const FlavorName& flavor, const std::string& resource) const;
  bool covers(const api::ResourceGroup& group, const std::string& resource) const;
  void assign(PodSetRun& run);
  // Decides all resources of the group that the podset requests; false when no flavor will do.
  bool assign_group(PodSetRun& run, std::size_t group);
  Attempt try_flavor(const PodSetRun& run, const api::ResourceGroup& group, const FlavorName& flavor);
  void check_quotas(const PodSetRun& run, const api::ResourceGroup& group, const FlavorName& flavor, Attempt& attempt);
  void apply_exclusion(const framework::FlavorExclusion& exclusion, Attempt& attempt);
  void fail(PodSetRun& run, std::vector<std::string> reasons) const;
  void charge(PodSetRun& run);
  void conclude(const PodSetRun& run);

  const std::size_t* group_of(const std::string& resource) const;
  const framework::FlavorExclusion* exclusion_of(const std::string& pod_set, const FlavorName& flavor) const;

  const framework::FilterContext& context_;
  const api::ClusterQueue& queue_;
  const FlavorAssignerArgs& args_;
  FlavorPreference preference_;
  std::map<std::string, std::size_t> group_of_{};  // resource -> index of its resource group
  framework::Assignment out_{};
  std::set<FlavorName> unsuitable_{};  // flavors that taints, labels or absence rule out
  bool quota_lacks_ = false;           // for some flavor that was tried
  std::string exclusion_reason_{};     // of the last exclusion that had a say
};

}  // namespace muster::plugins
