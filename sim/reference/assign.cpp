#include "sim/reference/assign.h"

#include <algorithm>
#include <utility>

namespace muster::sim::reference {
namespace {

// Why a flavor cannot serve, least to most severe.
enum class Severity : std::uint8_t { kNone, kWaitingForQuota, kExceedsMaxQuota, kNoMatchingFlavor };

const char* text_of(Severity severity) {
  switch (severity) {
    case Severity::kWaitingForQuota:
      return "WaitingForQuota";
    case Severity::kExceedsMaxQuota:
      return "ExceedsMaxQuota";
    case Severity::kNoMatchingFlavor:
      return "NoMatchingFlavor";
    default:
      return "PendingEvaluation";
  }
}

struct HowGood {
  Inner how = Inner::kFit;
  int level = 0;
};

// What the scan of one resource group came to.
struct Scan {
  std::optional<std::map<int, Pick>> chosen{};
  std::vector<std::string> reasons{};
  std::optional<Severity> severity{};  // least severe among the flavors tried and unfit
  int tried = -1;                      // index of the last flavor that was tried; -1: of all
};

std::string show(int resource, Big amount) {
  return amount_text(resource, static_cast<Units>(amount));
}

class Assigner {
 public:
  Assigner(const State& state, const QuotaState& quota, const Question& question)
      : state_(state),
        quota_(quota),
        question_(question),
        workload_(question.workload),
        queue_(state.def(workload_).queue) {}

  Assignment run() {
    const WorkloadDef& def = state_.def(workload_);
    for (std::size_t i = 0; i < def.pod_sets.size(); ++i) {
      PodSetDef pod_set = def.pod_sets[i];
      pod_set.count = question_.counts.empty() ? pod_set.count : question_.counts[i];
      if (!add_pod_set(pod_set, i)) {
        break;
      }
    }
    finish();
    return std::move(result_);
  }

 private:
  const QueueDef& queue() const { return state_.queue_of(workload_); }

  const GroupDef* group_of(int resource) const {
    for (const GroupDef& group : queue().groups) {
      if (std::find(group.resources.begin(), group.resources.end(), resource) != group.resources.end()) {
        return &group;
      }
    }
    return nullptr;
  }

  std::map<int, Big> requests_of(const PodSetDef& pod_set) const {
    std::map<int, Big> requests;
    for (int resource = 0; resource < kResources; ++resource) {
      if (const auto& asked = pod_set.request[static_cast<std::size_t>(resource)]) {
        requests[resource] = Big{*asked} * pod_set.count;
      }
    }
    if (group_of(kPods) != nullptr) {
      requests[kPods] = pod_set.count;
    }
    return requests;
  }

  // False: it cannot be served, and what comes after it is not looked at.
  bool add_pod_set(const PodSetDef& def, std::size_t index) {
    PodSetPick& out = result_.pod_sets.emplace_back();
    out.count = def.count;
    out.requests = requests_of(def);
    Severity severity = Severity::kNone;
    for (const auto& [resource, amount] : out.requests) {
      if (out.flavors.count(resource) > 0 || (group_of(resource) == nullptr && amount == 0)) {
        continue;
      }
      Scan found = scan(def, out.requests, index, resource);
      // Of every resource group the least severe, be it that another flavor of it was chosen (§3.9, to the letter).
      severity =
          std::max(severity, found.severity.value_or(found.chosen ? Severity::kNone : Severity::kNoMatchingFlavor));
      if (!found.chosen) {
        out.flavors.clear();
        std::erase_if(result_.progress.tried,
                      [&](const auto& entry) { return entry.first.first == static_cast<int>(index); });
        out.reasons = std::move(found.reasons);
        severity_ = severity;
        return false;
      }
      out.flavors.insert(found.chosen->begin(), found.chosen->end());
      for (const auto& [chosen, pick] : *found.chosen) {
        result_.progress.tried[{static_cast<int>(index), chosen}] = found.tried;
      }
      out.reasons.insert(out.reasons.end(), found.reasons.begin(), found.reasons.end());
    }
    charge(out);
    return true;
  }

  void charge(const PodSetPick& pod_set) {
    for (const auto& [resource, pick] : pod_set.flavors) {
      const int fr = fr_of(pick.flavor, resource);
      result_.usage.add(fr, pod_set.requests.at(resource));
      result_.level = std::max(result_.level, pick.level);
      if (pick.how != Inner::kFit) {
        result_.need.set(static_cast<std::size_t>(fr));
      }
    }
  }

  Scan scan(const PodSetDef& def, const std::map<int, Big>& requests, std::size_t pod_set, int resource) {
    Scan result;
    const GroupDef* group = group_of(resource);
    if (group == nullptr) {
      result.reasons.push_back(std::string("resource ") + resource_name(resource) + " unavailable in ClusterQueue");
      return result;
    }
    HowGood best{.how = Inner::kNoFit};
    const std::size_t flavors = group->flavors.size();
    for (std::size_t i = first_flavor(pod_set, resource); i < flavors; ++i) {
      HowGood mode;
      std::map<int, Pick> picks;
      const int flavor = group->flavors[i].flavor;
      if (question_.pins != nullptr && !is_pinned(pod_set, resource, flavor)) {
        result.reasons.push_back("skipping flavor " + flavor_name(flavor) +
                                 " as it is not found in the nomination mapping for resource " +
                                 resource_name(resource));
        continue;
      }
      if (!try_flavor(def, requests, *group, flavor, result, mode, picks)) {
        continue;
      }
      if (should_stop(mode) || better(mode, best)) {
        best = mode;
        result.chosen = std::move(picks);
      }
      if (should_stop(mode)) {
        result.tried = i + 1 < flavors ? static_cast<int>(i) : -1;
        break;
      }
    }
    if (best.how == Inner::kFit) {
      result.reasons.clear();
    }
    return result;
  }

  std::size_t first_flavor(std::size_t pod_set, int resource) const {
    if (!question_.progress) {
      return 0;
    }
    const auto last = question_.progress->tried.find({static_cast<int>(pod_set), resource});
    return last == question_.progress->tried.end() ? 0 : static_cast<std::size_t>(last->second + 1);
  }

  // False: the flavor is not eligible. `mode` is the worst of its resources.
  bool try_flavor(const PodSetDef& def, const std::map<int, Big>& requests, const GroupDef& group, int flavor,
                  Scan& result, HowGood& mode, std::map<int, Pick>& picks) {
    const auto unfit = [&result](Severity severity) {
      result.severity = std::min(result.severity.value_or(severity), severity);
    };
    if (const std::string why = not_eligible(def, flavor); !why.empty()) {
      result.reasons.push_back(why);
      unfit(Severity::kNoMatchingFlavor);
      return false;
    }
    Severity severity = Severity::kNone;
    for (const auto& [resource, amount] : requests) {
      if (std::find(group.resources.begin(), group.resources.end(), resource) == group.resources.end()) {
        continue;
      }
      const HowGood own = check(flavor, resource, amount, result.reasons, severity);
      picks[resource] = {.flavor = flavor, .how = own.how, .level = own.level};
      if (better(mode, own)) {
        mode = own;
      }
    }
    if (mode.how == Inner::kNoFit) {
      unfit(severity);
    }
    return true;
  }

  bool is_pinned(std::size_t pod_set, int resource, int flavor) const {
    const auto pin = (*question_.pins)[pod_set].find(resource);
    return pin != (*question_.pins)[pod_set].end() && pin->second == flavor;
  }

  std::string not_eligible(const PodSetDef& def, int flavor) const {
    const FlavorDef& f = state_.world->flavors[static_cast<std::size_t>(flavor)];
    const std::string name = flavor_name(flavor);
    if (!f.exists) {
      return "flavor " + name + " not found";
    }
    if (f.tainted && !def.tolerates) {
      return "untolerated taint {key val NoSchedule <nil>} in flavor " + name;
    }
    if (f.pool >= 0 && def.pool >= 0 && f.pool != def.pool) {
      return "flavor " + name + " doesn't match node affinity";
    }
    return {};
  }

  // §3.6.
  HowGood check(int flavor, int resource, Big request, std::vector<std::string>& reasons, Severity& severity) const {
    const int fr = fr_of(flavor, resource);
    const Big before = result_.usage.of(fr);
    const Big value = before + request;
    const Big most = quota_.potential(queue_, fr);
    const std::string where = std::string(resource_name(resource)) + " in flavor " + flavor_name(flavor) + ", ";
    if (value > most) {
      reasons.push_back("insufficient quota for " + where + "previously considered podsets requests (" +
                        show(resource, before) + ") + current podset request (" + show(resource, request) +
                        ") > maximum capacity (" + show(resource, most) + ")");
      severity = std::max(severity, Severity::kExceedsMaxQuota);
      return {.how = Inner::kNoFit};
    }
    const Level level = quota_.level(queue_, fr, value);
    const Big available = quota_.available_in_queue(queue_, fr);
    if (value <= available) {
      return {.how = Inner::kFit, .level = level.borrowing};
    }
    reasons.push_back("insufficient unused quota for " + where + show(resource, value - available) + " more needed");
    if (quota_.nominal(queue_, fr) >= value || level.may_reclaim || may_preempt_while_borrowing()) {
      return ask_oracle(fr, value, level.borrowing);
    }
    severity = std::max(severity, Severity::kWaitingForQuota);
    return {.how = Inner::kNoFit};
  }

  bool may_preempt_while_borrowing() const {
    const bool fair = state_.world->fair != FairSharing::kOff;
    return queue().borrow_while_preempting || (fair && queue().reclaim != Reclaim::kNever);
  }

  HowGood ask_oracle(int fr, Big value, int level) const {
    Preemptor preemptor{.workload = workload_};
    preemptor.usage.add(fr, value);
    preemptor.need.set(static_cast<std::size_t>(fr));
    const std::vector<Victim> victims = find_victims(state_, quota_, preemptor);
    if (victims.empty()) {
      return {.how = Inner::kNoCandidates, .level = level};
    }
    std::vector<int> gone;
    bool own = false;
    for (const Victim& victim : victims) {
      gone.push_back(victim.workload);
      own = own || state_.def(victim.workload).queue == queue_;
    }
    return {.how = own ? Inner::kPreempt : Inner::kReclaim,
            .level = quota_.without(gone).level(queue_, fr, value).borrowing};
  }

  bool better(const HowGood& a, const HowGood& b) const {
    if (a.how == Inner::kNoFit || b.how == Inner::kNoFit) {
      return a.how != Inner::kNoFit;
    }
    if ((a.how == Inner::kNoCandidates) != (b.how == Inner::kNoCandidates)) {
      return b.how == Inner::kNoCandidates;
    }
    if (queue().prefer_preemption) {
      return a.level != b.level ? a.level < b.level : a.how > b.how;
    }
    return a.how != b.how ? a.how > b.how : a.level < b.level;
  }

  bool should_stop(const HowGood& mode) const {
    const bool preempts = mode.how == Inner::kPreempt || mode.how == Inner::kReclaim;
    return mode.how != Inner::kNoFit && mode.how != Inner::kNoCandidates && !(preempts && queue().preempt_next) &&
           !(mode.level > 0 && queue().borrow_next);
  }

  // A podset whose flavors all fit shows no reasons; one without flavors that asks for something fits nowhere.
  static Mode mode_of(const PodSetPick& pod_set) {
    if (pod_set.reasons.empty()) {
      return Mode::kFit;
    }
    Mode mode = pod_set.flavors.empty() ? Mode::kNoFit : Mode::kFit;
    for (const auto& [resource, pick] : pod_set.flavors) {
      mode = std::min(mode, pick.how == Inner::kFit ? Mode::kFit : Mode::kPreempt);
    }
    return mode;
  }

  void finish() {
    result_.mode = result_.pod_sets.empty() ? Mode::kNoFit : Mode::kFit;
    for (std::size_t i = 0; i < result_.pod_sets.size(); ++i) {
      PodSetPick& pod_set = result_.pod_sets[i];
      const Mode mode = mode_of(pod_set);
      result_.mode = std::min(result_.mode, mode);
      if (mode == Mode::kFit) {
        continue;
      }
      std::sort(pod_set.reasons.begin(), pod_set.reasons.end());
      result_.message += result_.message.empty() ? "" : "; ";
      result_.message += "couldn't assign flavors to pod set " + pod_set_name(i) + ": ";
      for (std::size_t r = 0; r < pod_set.reasons.size(); ++r) {
        result_.message += (r == 0 ? "" : ", ") + pod_set.reasons[r];
      }
    }
    if (result_.mode == Mode::kNoFit) {
      result_.reason = text_of(severity_);
    }
  }

  const State& state_;
  const QuotaState& quota_;
  const Question& question_;
  int workload_;
  int queue_;
  Assignment result_{};
  Severity severity_ = Severity::kNone;
};

}  // namespace

Assignment assign(const State& state, const QuotaState& quota, const Question& question) {
  return Assigner(state, quota, question).run();
}

Pins pins_of(const Assignment& assignment) {
  Pins pins;
  for (const PodSetPick& pod_set : assignment.pod_sets) {
    std::map<int, int>& by_resource = pins.emplace_back();
    for (const auto& [resource, pick] : pod_set.flavors) {
      by_resource[resource] = pick.flavor;
    }
  }
  return pins;
}

}  // namespace muster::sim::reference
