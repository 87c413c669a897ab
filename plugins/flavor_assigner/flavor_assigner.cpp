#include "plugins/flavor_assigner/flavor_assigner.h"

#include "api/codec/reader.h"
#include "framework/status/workload_conditions.h"
#include "plugins/flavor_assigner/assigner.h"

namespace muster::plugins {
namespace {

using framework::FitMode;
using framework::Verdict;

constexpr api::EnumNames<QuotaCheckStrategy, 2> kQuotaCheckStrategyNames = {
    {{QuotaCheckStrategy::kBlockUndeclared, "BlockUndeclared"},
     {QuotaCheckStrategy::kIgnoreUndeclared, "IgnoreUndeclared"}}};

Verdict unknown_queue(const ClusterQueueName& name) {
  return Verdict::unresolvable(std::string(framework::kMisconfigured), "ClusterQueue " + name.str() + " not found")
      .wakes_on({{framework::WakeKind::kClusterQueue, name.str()}});
}

}  // namespace

Result<std::unique_ptr<FlavorAssigner>> FlavorAssigner::create(const api::Json& args,
                                                               const framework::PluginDeps& deps) {
  api::Problems problems;
  const api::Reader reader(args, problems);
  reader.allow_only({"quotaCheckStrategy"});
  const auto configured =
      deps.ignore_undeclared_resources ? QuotaCheckStrategy::kIgnoreUndeclared : QuotaCheckStrategy::kBlockUndeclared;
  FlavorAssignerArgs parsed{
      .quota_check_strategy = reader.one_of("quotaCheckStrategy", kQuotaCheckStrategyNames, configured),
      .fungibility = deps.feature("FlavorFungibility", true)};
  if (!deps.feature("QuotaCheckStrategy", true)) {
    parsed.quota_check_strategy = QuotaCheckStrategy::kBlockUndeclared;
  }
  return std::move(problems).finish(std::make_unique<FlavorAssigner>(parsed));
}

Verdict FlavorAssigner::filter(framework::FilterContext& context, framework::Assignment& assignment,
                               std::vector<framework::FlavorExclusion>& /*rejected*/) const {
  const ClusterQueueName& name = context.workload.cluster_queue;
  const auto* queue = context.model().objects().find<api::ClusterQueue>(ObjectKey{{}, name.str()});
  if (queue == nullptr) {
    assignment = {};
    return unknown_queue(name);
  }
  Assigner assigner(context, *queue, args_);
  assignment = assigner.run();
  if (assignment.mode != FitMode::kNoFit) {
    return Verdict::success();
  }
  return Verdict::unresolvable(assignment.reason, assignment.message).wakes_on(assigner.wakes());
}

bool FlavorAssigner::passes(framework::FilterContext& context, framework::Assignment& assignment) const {
  return assignment.mode != FitMode::kNoFit &&
         context.model().quota().fits(context.workload.cluster_queue, assignment.usage);
}

}  // namespace muster::plugins
