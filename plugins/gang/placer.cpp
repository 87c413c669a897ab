#include "plugins/gang/placer.h"

#include "plugins/gang/trial_slots.h"

#include <algorithm>
#include <numeric>
#include <queue>
#include <tuple>

namespace muster::plugins::gang {
namespace {

using framework::NodeId;
using framework::PodSetPlan;

constexpr Amount kRegretUnit = 1000;
// More than any node takes. Room beyond the podset's count matters too: it tells a large node from a small one.
constexpr Amount kAnyNumber = Amount{1} << 20;

std::int32_t total(const std::vector<std::int32_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int32_t{0});
}

}  // namespace

Placement Placer::place(const std::vector<GangPodSet>& pod_sets) const {
  std::vector<Room> rooms;
  bool alone_fits = true;
  for (const GangPodSet& pod_set : pod_sets) {
    rooms.push_back(room_for(pod_set, pod_sets.size() > 1));
    alone_fits = alone_fits && rooms.back().total >= pod_set.count;
  }
  std::vector<Search> tried = {Search{.order = by_scarcity(pod_sets, rooms)}};
  Placement best = search(pod_sets, rooms, tried.back());
  best.proved = !alone_fits;
  Placement last = best;
  while (!best.complete && alone_fits && tried.size() < kMaxSearches) {
    Search next = tried.back();
    const auto failed = std::find_if(next.order.begin(), next.order.end(),
                                     [&](std::size_t i) { return last.fit[i] < pod_sets[i].count; });
    std::rotate(next.order.begin(), failed, failed + 1);  // conflict-driven: who failed goes first
    next.nodes = static_cast<NodeOrder>(tried.size() % 3);
    if (std::find(tried.begin(), tried.end(), next) != tried.end()) {
      break;
    }
    last = search(pod_sets, rooms, next);
    tried.push_back(std::move(next));
    if (last.complete || total(last.fit) > total(best.fit)) {
      best = last;
    }
  }
  return best;
}

Placer::Room Placer::room_for(const GangPodSet& pod_set, bool by_place) const {
  Room room;
  const std::vector<NodeId>& ids = judge_.nodes().ids();
  if (by_place) {
    room.by_place.assign(ids.size(), 0);
  }
  if (pod_set.count <= 0 || !judge_.pre_filter(pod_set.shape).ok()) {
    return room;
  }
  std::vector<NodeId> suited;
  for (std::uint32_t place = 0; place < ids.size(); ++place) {
    const Amount pods = judge_.fit(pod_set.shape, ids[place], kAnyNumber);
    if (pods > 0) {
      room.fits.push_back({.place = place, .pods = pods});
      room.total += pods;
      suited.push_back(ids[place]);
      if (by_place) {
        room.by_place[place] = pods;
      }
    }
  }
  const std::vector<std::int64_t> preferences = judge_.preferences(pod_set.shape, suited);
  for (std::size_t i = 0; i < room.fits.size(); ++i) {
    room.fits[i].preference = preferences[i];
  }
  return room;
}

// Room a pod ascending: whoever has the fewest alternatives chooses first.
std::vector<std::size_t> Placer::by_scarcity(const std::vector<GangPodSet>& pod_sets,
                                             const std::vector<Room>& rooms) const {
  std::vector<std::size_t> order(pod_sets.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rooms[a].total * pod_sets[b].count < rooms[b].total * pod_sets[a].count;
  });
  return order;
}

Placement Placer::search(const std::vector<GangPodSet>& pod_sets, const std::vector<Room>& rooms,
                         const Search& how) const {
  TrialSlots trial(transaction_);
  std::vector<bool> touched(judge_.nodes().size(), false);
  std::vector<PodSetPlan> plans(pod_sets.size());
  Placement result{.fit = std::vector<std::int32_t>(pod_sets.size(), 0), .complete = true};
  for (std::size_t step = 0; step < how.order.size(); ++step) {
    const std::size_t i = how.order[step];
    const GangPodSet& pod_set = pod_sets[i];
    std::vector<Fit> fits = current_fits(pod_set, rooms[i], touched);
    for (std::size_t later = step + 1; later < how.order.size() && how.nodes == NodeOrder::kLeastRegret; ++later) {
      const std::size_t other = how.order[later];
      for (Fit& fit : fits) {
        fit.regret += rooms[other].by_place[fit.place] * kRegretUnit / std::max(1, pod_sets[other].count);
      }
    }
    const Taken taken =
        policy_ == PlacementPolicy::kPack ? pack(pod_set, std::move(fits), how.nodes) : spread(pod_set, fits);
    for (const auto& [place, count] : taken) {
      touched[place] = true;
      result.fit[i] += count;
    }
    result.complete = result.complete && result.fit[i] == pod_set.count;
    plans[i] = plan_of(pod_set, taken);
    if (step + 1 < how.order.size()) {
      trial.add(plans[i]);
    }
  }
  std::erase_if(plans, [](const PodSetPlan& plan) { return plan.slots.empty(); });
  result.plan = std::move(plans);
  return result;
}

PodSetPlan Placer::plan_of(const GangPodSet& pod_set, const Taken& taken) const {
  PodSetPlan plan{.name = pod_set.name, .per_pod = pod_set.shape.footprint};
  for (const auto& [place, count] : taken) {
    plan.slots.push_back({judge_.nodes().name(at(place)), count});
  }
  return plan;
}

// The room with what the podsets before it have taken of this search.
std::vector<Placer::Fit> Placer::current_fits(const GangPodSet& pod_set, const Room& room,
                                              const std::vector<bool>& touched) const {
  std::vector<Fit> fits = room.fits;
  for (Fit& fit : fits) {
    if (touched[fit.place]) {
      fit.pods = judge_.capacity(pod_set.shape, at(fit.place), kAnyNumber).first;
    }
  }
  std::erase_if(fits, [](const Fit& fit) { return fit.pods <= 0; });
  return fits;
}

// Takes nodes whole in order; the last one is the smallest of its equals that takes the rest.
Placer::Taken Placer::pack(const GangPodSet& pod_set, std::vector<Fit> fits, NodeOrder order) const {
  const Amount direction = order == NodeOrder::kTightest ? 1 : -1;
  std::sort(fits.begin(), fits.end(), [direction](const Fit& a, const Fit& b) {
    return std::tuple(-a.preference, a.regret, direction * a.pods, a.place) <
           std::tuple(-b.preference, b.regret, direction * b.pods, b.place);
  });
  Taken taken;
  Amount left = pod_set.count;
  for (std::size_t i = 0; i < fits.size() && left > 0; ++i) {
    std::size_t chosen = i;
    for (std::size_t j = i; j < fits.size() && fits[j].pods >= left; ++j) {
      if (fits[j].preference != fits[i].preference || fits[j].regret != fits[i].regret) {
        break;
      }
      chosen = fits[j].pods < fits[chosen].pods ? j : chosen;
    }
    const Amount pods = std::min(left, fits[chosen].pods);
    taken.emplace(fits[chosen].place, static_cast<std::int32_t>(pods));
    left -= pods;
  }
  return taken;
}

// Every pod goes to the best node at that moment. Equal scores: where fewer of this podset are, then the lower name.
Placer::Taken Placer::spread(const GangPodSet& pod_set, const std::vector<Fit>& fits) const {
  using Entry = std::tuple<std::int64_t, std::int32_t, std::int64_t, std::size_t>;  // score, -taken, -place, index
  std::vector<std::int32_t> taken(fits.size(), 0);
  const auto entry_of = [&](std::size_t i) {
    const std::int64_t score = fits[i].preference + judge_.usage_score(pod_set.shape, at(fits[i].place));
    return Entry{score, -taken[i], -std::int64_t{fits[i].place}, i};
  };
  std::priority_queue<Entry> best;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    best.push(entry_of(i));
  }
  TrialSlots trial(transaction_);
  for (std::int32_t left = pod_set.count; left > 0 && !best.empty(); --left) {
    const std::size_t i = std::get<3>(best.top());
    best.pop();
    ++taken[i];
    trial.add(plan_of(pod_set, {{fits[i].place, 1}}));
    if (judge_.capacity(pod_set.shape, at(fits[i].place), 1).first > 0) {
      best.push(entry_of(i));
    }
  }
  Taken result;
  for (std::size_t i = 0; i < fits.size(); ++i) {
    if (taken[i] > 0) {
      result.emplace(fits[i].place, taken[i]);
    }
  }
  return result;
}

}  // namespace muster::plugins::gang
