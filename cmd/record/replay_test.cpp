// Simulations with random times and faults are recorded and replayed; a recording kept in testdata is replayed as it
// is. A decision that changes on purpose changes that recording: MUSTER_UPDATE_CASES=1 writes it anew.
#include "cmd/record/replay.h"

#include "cmd/record/recorder.h"
#include "plugins/register_all.h"
#include "sim/simulator.h"
#include "sim/testing/scene.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>

namespace muster::cmd {
namespace {

using sim::testing::Scene;
using ::testing::HasSubstr;

framework::Registry all_plugins() {
  framework::Registry registry;
  plugins::register_all(registry);
  return registry;
}

// Read back, an object is the same in every member, also those that a decision does not look at (yet).
void expect_exact(const framework::Event& event) {
  const auto* object = std::get_if<framework::ObjectEvent>(&event);
  if (object == nullptr) {
    return;
  }
  const Result<LogLine> line = parse_line(format_line(Applied{.event = event}));
  ASSERT_TRUE(line.ok()) << to_string(line.error());
  const auto& back = std::get<framework::ObjectEvent>(std::get<Applied>(*line).event);
  ASSERT_EQ(back.index(), object->index());
  std::visit(
      [&back](const auto& change) {
        EXPECT_EQ(*std::get<std::decay_t<decltype(change)>>(back).object, *change.object) << change.object->meta.name;
      },
      *object);
}

// Records every input of a simulated manager, restarts included, as text.
void record(sim::ManagerOptions& options, std::string& log) {
  auto cycle = std::make_shared<std::uint64_t>(0);
  const auto add = [&log](const LogLine& line) { log += format_line(line) + "\n"; };
  options.on_start = [add, cycle] {
    *cycle = 0;
    add(Started{.version = "test", .setup = {.own_namespace = "kueue-system"}});
  };
  options.on_apply = [add](TimePoint now, const framework::Event& event) {
    expect_exact(event);
    add(Applied{.now = now, .event = event});
  };
  options.on_settled = [add, cycle](TimePoint now, const framework::Output& output) {
    *cycle = last_cycle(*cycle, output.trace);
    add(settled(now, *cycle, output.effects));
  };
}

// As `muster simulate` without a configuration has it.
sim::SimulatorOptions options_of_tool(const framework::Registry& registry) {
  auto parts = make_parts({.own_namespace = "kueue-system"}, registry, {});
  return {.manager = {.core = parts->core, .controllers = parts->controllers}};
}

Scene scene_of(std::uint64_t seed) {
  Scene scene;
  scene.nodes(3, "8").priority_class("high", 100);
  scene.queue({.name = "left", .cpu = "12", .cohort = "all", .within_queue = "LowerPriority", .within_cohort = "Any"});
  scene.queue({.name = "right", .cpu = "12", .cohort = "all", .within_queue = "LowerPriority", .within_cohort = "Any"});
  sim::Faults random({.seed = seed * 7919});
  const auto draw = [&random](int limit) { return static_cast<int>(random.up_to(Duration(limit - 1)).count()); };
  for (int i = 0; i < 10; ++i) {
    scene.job({.name = "job-" + std::to_string(i),
               .queue = draw(2) == 0 ? "left" : "right",
               .priority_class = draw(3) == 0 ? "high" : "",
               .pods = 1 + draw(4),
               .cpu = std::to_string(1 + draw(3)),
               .at = std::chrono::seconds(draw(60)),
               .runs_for = std::chrono::seconds(5 + draw(30))});
  }
  return scene;
}

std::string recorded(std::uint64_t seed, std::vector<Duration> restarts = {}) {
  const framework::Registry registry = all_plugins();
  sim::SimulatorOptions options = options_of_tool(registry);
  options.faults = {.seed = seed,
                    .max_watch_delay = Duration(700),
                    .max_request_delay = Duration(150),
                    .max_pod_delay = Duration(2000),
                    .refused = 60,
                    .lost = 60,
                    .conflict = 60};
  options.until = std::chrono::hours(2);
  options.restarts = std::move(restarts);
  std::string log;
  record(options.manager, log);
  sim::Simulator simulator(std::move(options), registry);
  simulator.submit(scene_of(seed).submissions());
  simulator.run();
  return log;
}

Result<Replayed> run(const std::string& log, const ReplayOptions& options = {}) {
  std::istringstream in(log);
  return replay(in, all_plugins(), options);
}

class RandomRun : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomRun, ReplaysByteForByte) {
  const Result<Replayed> replayed = run(recorded(GetParam()));
  ASSERT_TRUE(replayed.ok()) << to_string(replayed.error());
  ASSERT_FALSE(replayed->difference) << "seed " << GetParam() << " line " << replayed->difference->line << ": "
                                     << replayed->difference->recorded << " / " << replayed->difference->replayed;
  EXPECT_EQ(replayed->processes, 1U);
  EXPECT_GT(replayed->effects, 50U);
  EXPECT_GE(replayed->cycles, 5U);
}

TEST_P(RandomRun, ReplaysRestartsToo) {
  const Result<Replayed> replayed = run(recorded(GetParam(), {std::chrono::seconds(20), std::chrono::seconds(45)}));
  ASSERT_TRUE(replayed.ok()) << to_string(replayed.error());
  EXPECT_FALSE(replayed->difference) << "seed " << GetParam() << ": " << replayed->difference->recorded << " / "
                                     << replayed->difference->replayed;
  EXPECT_EQ(replayed->processes, 3U);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomRun, ::testing::Range<std::uint64_t>(1, 7));

TEST(Replay, StopsAtACycleAndShowsIt) {
  const std::string log = recorded(3);
  const Result<Replayed> all = run(log);
  const Result<Replayed> some = run(log, {.until = 4, .show_cycle = 3});
  ASSERT_TRUE(some.ok());
  EXPECT_LT(some->settles, all->settles);
  EXPECT_GE(some->cycles, 4U);
  ASSERT_FALSE(some->shown.empty());
  for (const framework::TraceEntry& entry : some->shown) {
    EXPECT_EQ(entry.cycle, 3U);
  }
}

// The line of the first settle that did something, changed by `edit`.
std::string tampered(std::string log, const std::function<void(Settled&)>& edit) {
  std::istringstream in(log);
  std::string out;
  bool done = false;
  for (std::string text; std::getline(in, text);) {
    auto line = parse_line(text);
    auto* settle = std::get_if<Settled>(&*line);
    if (!done && settle != nullptr && settle->effects.size() > 1) {
      done = true;
      edit(*settle);
      text = format_line(*settle);
    }
    out += text + "\n";
  }
  return out;
}

TEST(Replay, NamesTheFirstDifference) {
  const std::string log = recorded(2);
  const Result<Replayed> other = run(tampered(log, [](Settled& line) { line.effects[1] = "BindPod Pod a/b to c"; }));
  ASSERT_TRUE(other.ok());
  ASSERT_TRUE(other->difference);
  EXPECT_EQ(other->difference->effect, 1U);
  EXPECT_EQ(other->difference->recorded, "BindPod Pod a/b to c");
  EXPECT_FALSE(other->difference->replayed.empty());
  EXPECT_GT(other->difference->line, 1U);

  const Result<Replayed> fewer = run(tampered(log, [](Settled& line) { line.effects.pop_back(); }));
  ASSERT_TRUE(fewer->difference);
  EXPECT_EQ(fewer->difference->recorded, "");

  const Result<Replayed> hidden = run(tampered(log, [](Settled& line) { ++line.hash; }));
  ASSERT_TRUE(hidden->difference);
  EXPECT_THAT(hidden->difference->recorded, HasSubstr("hash"));
}

TEST(Replay, AnIncompleteLastLineIsLeftOut) {
  const std::string log = recorded(4);
  const Result<Replayed> cut = run(log.substr(0, log.size() - 20));
  ASSERT_TRUE(cut.ok()) << to_string(cut.error());
  EXPECT_TRUE(cut->cut_off);
  EXPECT_FALSE(cut->difference);

  const Result<Replayed> resumed = run(log.substr(0, log.size() - 20) + "\n" + log);
  ASSERT_TRUE(resumed.ok()) << to_string(resumed.error());
  EXPECT_EQ(resumed->processes, 2U);
  EXPECT_FALSE(resumed->difference);
}

TEST(Replay, OtherBadLinesAreErrorsWithTheirNumber) {
  const std::string log = recorded(4);
  const std::size_t second = log.find('\n') + 1;
  const Result<Replayed> broken = run(log.substr(0, second) + "{nonsense\n" + log.substr(second));
  ASSERT_FALSE(broken.ok());
  EXPECT_THAT(broken.error().message, HasSubstr("line 2"));
  EXPECT_FALSE(run("").ok());
  EXPECT_FALSE(run("\n").ok());
  EXPECT_FALSE(run(log.substr(second)).ok());
}

// ---- the file ----

class RecorderTest : public ::testing::Test {
 protected:
  RecorderTest() : folder_(std::filesystem::temp_directory_path() / ("muster-recorder-" + std::to_string(::getpid()))) {
    std::filesystem::create_directories(folder_);
  }

  ~RecorderTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  static std::string content(const std::string& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::filesystem::path folder_;
};

void fail(const Error& error) {
  ADD_FAILURE() << to_string(error);
}

TEST_F(RecorderTest, WritesWhatItIsTold) {
  for (int process = 0; process < 2; ++process) {  // the second appends
    auto recorder = Recorder::open(file("log"), Started{.version = "test"}, fail);
    ASSERT_TRUE(recorder.ok()) << to_string(recorder.error());
    for (int i = 0; i < 5000; ++i) {
      (*recorder)->apply(TimePoint(Duration(i)), framework::Tick{});
    }
    (*recorder)->settle(TimePoint(Duration(9)), {});
  }
  const Result<Replayed> replayed = replay_file(file("log"), all_plugins(), {});
  ASSERT_TRUE(replayed.ok()) << to_string(replayed.error());
  EXPECT_EQ(replayed->processes, 2U);
  EXPECT_EQ(replayed->events, 10'000U);
  EXPECT_EQ(replayed->settles, 2U);
  EXPECT_FALSE(replayed->difference);
}

TEST_F(RecorderTest, GoesOnBehindHalfALine) {
  std::ofstream(file("log")) << format_line(Started{.version = "test"}) << "\n{\"apply\": {\"chan";
  { auto recorder = Recorder::open(file("log"), Started{.version = "test"}, fail); }
  const Result<Replayed> replayed = replay_file(file("log"), all_plugins(), {});
  ASSERT_TRUE(replayed.ok()) << to_string(replayed.error());
  EXPECT_EQ(replayed->processes, 2U);
  EXPECT_TRUE(replayed->cut_off);
}

TEST_F(RecorderTest, AFileThatCannotBeOpenedIsAnErrorWithItsName) {
  const auto recorder = Recorder::open(file("no/such/folder"), Started{}, fail);
  ASSERT_FALSE(recorder.ok());
  EXPECT_THAT(recorder.error().message, HasSubstr("no/such/folder"));
}

TEST_F(RecorderTest, AFullDiskIsReportedAtTheStart) {
  const auto recorder = Recorder::open("/dev/full", Started{}, fail);
  ASSERT_FALSE(recorder.ok());
  EXPECT_THAT(recorder.error().message, HasSubstr("/dev/full"));
}

// ---- a kept recording ----

// As the tool makes it: a gang is preempted by a Job of higher priority and comes back.
void record_preemption(const std::filesystem::path& path) {
  const framework::Registry registry = all_plugins();
  sim::SimulatorOptions options = options_of_tool(registry);
  std::string log;
  record(options.manager, log);
  Scene scene;
  scene.nodes(1, "4").priority_class("high", 100).queue({.cpu = "4", .within_queue = "LowerPriority"});
  scene.job({.name = "low", .pods = 2, .cpu = "2", .runs_for = std::chrono::seconds(60)});
  scene.job({.name = "high",
             .priority_class = "high",
             .cpu = "3",
             .at = std::chrono::seconds(10),
             .runs_for = std::chrono::seconds(5)});
  sim::Simulator simulator(std::move(options), registry);
  simulator.submit(scene.submissions());
  simulator.run();
  std::ofstream(path, std::ios::trunc) << log;
}

TEST(KeptRecordings, AreDecidedAsTheyWere) {
  const std::filesystem::path folder = MUSTER_CMD_TESTDATA;
  if (std::getenv("MUSTER_UPDATE_CASES") != nullptr) {
    record_preemption(folder / "preemption.log");
  }
  int recordings = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".log") {
      continue;
    }
    ++recordings;
    const Result<Replayed> replayed = replay_file(entry.path().string(), all_plugins(), {});
    ASSERT_TRUE(replayed.ok()) << to_string(replayed.error());
    EXPECT_FALSE(replayed->difference) << entry.path() << " line " << replayed->difference->line
                                       << "\nrecorded: " << replayed->difference->recorded
                                       << "\nreplayed: " << replayed->difference->replayed;
  }
  EXPECT_GT(recordings, 0);
}

}  // namespace
}  // namespace muster::cmd
