#include "plugins/flavor_assigner/quota_check.h"

#include "base/quantity.h"
#include "framework/status/workload_conditions.h"

namespace muster::plugins {
namespace {

using framework::Outlook;
using framework::PreemptionOutlook;

// A request is never unlimited: what does not fit into int64 prints as the largest number that does.
std::string format_request(const std::string& resource, Amount amount) {
  if (amount != kUnlimited) {
    return format_amount(resource, amount);
  }
  return std::to_string(amount) + (resource == "cpu" ? "m" : "");
}

std::string exceeds_text(const QuotaQuestion& question, Amount capacity) {
  const std::string& resource = question.fr.resource;
  return "insufficient quota for " + resource + " in flavor " + question.fr.flavor.str() +
         ", previously considered podsets requests (" + format_request(resource, question.considered) +
         ") + current podset request (" + format_request(resource, question.request) + ") > maximum capacity (" +
         format_amount(resource, capacity) + ")";
}

std::string waits_text(const framework::FlavorResource& fr, Amount missing) {
  return "insufficient unused quota for " + fr.resource + " in flavor " + fr.flavor.str() + ", " +
         format_request(fr.resource, missing) + " more needed";
}

Grade grade_of(const Outlook& outlook, int level_before) {
  switch (outlook.outlook) {
    case PreemptionOutlook::kPreempt:
      return {Fitness::kPreempt, outlook.borrow_level};
    case PreemptionOutlook::kReclaim:
      return {Fitness::kReclaim, outlook.borrow_level};
    case PreemptionOutlook::kNoCandidates:
      break;
  }
  return {Fitness::kNoCandidates, level_before};
}

}  // namespace

framework::FitMode mode_of(Fitness fitness) {
  switch (fitness) {
    case Fitness::kNoFit:
      return framework::FitMode::kNoFit;
    case Fitness::kFit:
      return framework::FitMode::kFit;
    default:
      return framework::FitMode::kPreempt;
  }
}

std::string unavailable_text(const std::string& resource) {
  return "resource " + resource + " unavailable in ClusterQueue";
}

QuotaAnswer check_quota(const framework::FilterContext& context, const api::ClusterQueue& queue,
                        const QuotaQuestion& question) {
  const framework::QuotaTree& quota = context.model().quota();
  const ClusterQueueName name(queue.meta.name);
  const Amount wanted = sat_add(question.considered, question.request);
  const Amount capacity = quota.potential(name, question.fr);
  if (wanted > capacity) {
    return {.grade = {Fitness::kNoFit, 0},
            .text = exceeds_text(question, capacity),
            .reason_class = framework::kExceedsMaxQuota};
  }
  const framework::BorrowLevel borrow = quota.borrow_level(name, question.fr, wanted);
  const Amount available = quota.available(name, question.fr);
  if (wanted <= available) {
    return {.grade = {Fitness::kFit, borrow.level}};
  }
  QuotaAnswer answer{.text = waits_text(question.fr, sat_sub(wanted, available))};
  const bool may_preempt_while_borrowing =
      context.preemption != nullptr && context.preemption->may_preempt_while_borrowing(queue);
  if (quota.nominal(name, question.fr) >= wanted || borrow.may_reclaim_in_hierarchy || may_preempt_while_borrowing) {
    answer.grade = grade_of(context.outlook(question.fr, wanted), borrow.level);
  } else {
    answer.grade = {Fitness::kNoFit, borrow.level};
    answer.reason_class = framework::kWaitingForQuota;
  }
  return answer;
}

}  // namespace muster::plugins
