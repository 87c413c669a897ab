// The core against the plain, slow reference on random small worlds. MUSTER_WORLDS=N plays N worlds, MUSTER_SEED=S
// begins with that one (MUSTER_WORLDS=1 MUSTER_SEED=S plays exactly it).
#include "sim/reference/driver.h"
#include "sim/reference/random.h"
#include "sim/reference/trial.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <memory>
#include <vector>

namespace muster::sim::reference {
namespace {

std::uint64_t from_environment(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// What kind of difference it is: names and numbers left out, so that a world does not shrink into another failure.
std::string kind_of(const std::string& difference) {
  std::string kind;
  for (const char c : difference.substr(0, difference.find('"'))) {
    kind += c >= '0' && c <= '9' ? '#' : c;
  }
  return kind;
}

TEST(Core, DecidesAsTheReferenceOnRandomWorlds) {
  const Profiles profiles;
  const std::uint64_t first = from_environment("MUSTER_SEED", 1);
  const std::uint64_t worlds = from_environment("MUSTER_WORLDS", 5000);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + worlds; ++seed) {
    const World world = random_world(seed);
    const TrialResult result = run_trial(world, profiles);
    tally += result.tally;
    if (!result.difference.empty()) {
      const World small = shrink(world, [&](const World& w) {
        return kind_of(run_trial(w, profiles).difference) == kind_of(result.difference);
      });
      std::string story;
      const std::string difference = run_trial(small, profiles, &story).difference;
      FAIL() << "seed " << seed << ": " << result.difference << "\nshrunk: " << difference << "\n"
             << story << to_yaml(small);
    }
  }
  std::cout << worlds << " worlds from seed " << first << ": " << tally.cycles << " cycles, " << tally.admitted
            << " admissions, " << tally.preempting << " preemptions of " << tally.victims << " victims, "
            << tally.skipped << " skipped, " << tally.parked << " parked, " << tally.restless
            << " worlds without rest\n";
  EXPECT_GT(tally.victims, 0);
}

TEST(Core, HasTheSameLedgerWhateverTheOrderOfEvents) {
  const Profiles profiles;
  const std::uint64_t first = from_environment("MUSTER_SEED", 1);
  for (std::uint64_t seed = first; seed < first + 1000; ++seed) {
    ASSERT_EQ(check_event_order(random_world(seed), profiles), "") << "seed " << seed;
  }
}

// A set of pending Workloads with few values, so that many compare equal in part.
std::vector<framework::WorkloadInfo> some_workloads(Random& random) {
  std::vector<framework::WorkloadInfo> infos(8);
  for (std::size_t i = 0; i < infos.size(); ++i) {
    auto object = std::make_shared<api::Workload>();
    object->meta.uid = Uid("uid-" + std::to_string(i));
    infos[i].key = {"team", "w" + std::to_string(i)};
    infos[i].object = object;
    infos[i].priority = random.between(-1, 1);
    infos[i].queue_time = TimePoint(std::chrono::seconds(random.below(3)));
  }
  return infos;
}

// Irreflexive, asymmetric, transitive, and equivalence is transitive, too.
template <class T, class Less>
void expect_strict_weak_order(const std::vector<T>& all, Less less, std::uint64_t seed) {
  const auto same = [&](const T& a, const T& b) { return !less(a, b) && !less(b, a); };
  for (const T& a : all) {
    EXPECT_FALSE(less(a, a)) << "seed " << seed;
    for (const T& b : all) {
      EXPECT_FALSE(less(a, b) && less(b, a)) << "seed " << seed;
      for (const T& c : all) {
        EXPECT_TRUE(!(less(a, b) && less(b, c)) || less(a, c)) << "seed " << seed;
        EXPECT_TRUE(!(same(a, b) && same(b, c)) || same(a, c)) << "seed " << seed;
      }
    }
  }
}

TEST(QueueSort, OrdersAreStrictAndWeakOnRandomWorkloads) {
  const Profiles profiles;
  const framework::Profile& profile = profiles.of({});
  const framework::QueueSort& sort = *profile.queue_sort.front().plugin;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Random random(seed);
    const std::vector<framework::WorkloadInfo> infos = some_workloads(random);
    std::vector<framework::Entry> entries(infos.size());
    for (std::size_t i = 0; i < infos.size(); ++i) {
      entries[i].workload = &infos[i];
      entries[i].assignment.borrow_level = random.below(3);
    }
    expect_strict_weak_order(
        infos, [&](const auto& a, const auto& b) { return sort.less(a, b); }, seed);
    expect_strict_weak_order(
        entries, [&](const auto& a, const auto& b) { return sort.entry_less(a, b); }, seed);
  }
}

}  // namespace
}  // namespace muster::sim::reference
