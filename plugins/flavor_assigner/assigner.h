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

  // Podsets after one that cannot be served are not looked at (but see `survey`), and absent from the result. The others
  // are in the Workload's order.
  framework::Assignment run();
  // What may turn the outcome into a better one. After `run`.
  std::vector<framework::Wake> wakes() const;

 private:
  // A flavor tried for the requests of some podsets in one resource group.
  struct Attempt {
    FlavorName flavor{};
    Grade grade{};
    std::map<std::string, framework::FlavorChoice> choices{};  // by resource
    std::vector<std::string> reasons{};
    std::string_view no_fit_class{};  // of kNoFit
  };

  // One podset of those at hand.
  struct Member {
    const framework::PodSetTotals* totals = nullptr;
    const api::PodSpec* pod = nullptr;
    api::ResourceAmounts requests{};  // with `pods` where a resource group covers it
  };

  // Podsets that get the same flavors: those of one podset group, or one alone.
  struct Run {
    std::vector<Member> members{};
    api::ResourceAmounts requests{};  // of all members
    std::map<std::string, framework::FlavorChoice> flavors{};  // by resource
    std::map<std::string, int> tried{};                        // by resource: index of the last flavor tried
    std::vector<std::string> reasons{};
    std::vector<Attempt> attempts{};
    framework::FitMode mode = framework::FitMode::kFit;
    bool lacks_nodes = false;
    std::map<std::size_t, std::string> no_fit_classes{};  // by resource group: the least severe of the flavors tried
  };

  // By podset group, in order of first appearance.
  std::vector<Run> runs() const;
  Member member_of(const framework::PodSetTotals& totals) const;
  void assign(Run& run);
  // Decides all resources of the group that are requested; false when no flavor will do.
  bool assign_group(Run& run, const std::string& resource, std::size_t group);
  void take(Run& run, Attempt best, std::vector<std::string> reasons, int tried) const;
  std::size_t first_flavor(const Run& run, const std::string& resource, std::size_t flavors) const;
  Attempt try_flavor(const Run& run, const std::string& resource, const api::ResourceGroup& group,
                     const FlavorName& flavor);
  std::string ineligible(const Run& run, const FlavorName& flavor) const;
  bool is_given_up(const Run& run, const std::string& resource, const FlavorName& flavor) const;
  void check_quotas(const Run& run, const api::ResourceGroup& group, const FlavorName& flavor, Attempt& attempt);
  // For `explain`: what every flavor would answer, without any effect on the outcome.
  void survey(const Run& run) const;
  void survey(const Member& member) const;
  void survey_flavor(const Member& member, const api::ResourceGroup& group, const FlavorName& flavor) const;
  QuotaQuestion question(const api::ResourceAmounts& requests, const FlavorName& flavor,
                         const std::string& resource) const;
  bool covers(const api::ResourceGroup& group, const std::string& resource) const;
  void apply_exclusion(const framework::FlavorExclusion& exclusion, Attempt& attempt);
  void fail(Run& run, std::vector<std::string> reasons) const;
  void charge(const Run& run, const Member& member, framework::PodSetChoice& choice);
  void conclude(Run& run);
  void finish();
  void describe(const Run& run);

  const std::size_t* group_of(const std::string& resource) const;
  const framework::FlavorExclusion* exclusion_of(const Run& run, const FlavorName& flavor) const;

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
