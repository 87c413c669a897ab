// Stories: every cases/NAME.yaml is simulated, and its table must be cases/NAME.txt. A changed story is reviewed like
// code; MUSTER_UPDATE_CASES=1 writes the tables anew. cases/NAME.config, where there is one, is the manager's Configuration.
#include "api/config/configuration.h"
#include "plugins/register_all.h"
#include "sim/manifests.h"
#include "sim/report.h"
#include "sim/testing/invariants.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace muster::sim {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> case_names() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(MUSTER_SIM_CASES)) {
    if (entry.path().extension() == ".yaml") {
      names.push_back(entry.path().stem().string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

SimulatorOptions options_of(const fs::path& config) {
  const auto configuration = api::parse_configuration(fs::exists(config) ? content(config) : "");
  EXPECT_TRUE(configuration.ok()) << to_string(configuration.error());
  SimulatorOptions options;
  options.manager.plugins = {.feature_gates = configuration->feature_gates, .fair_sharing = configuration->fair_sharing};
  options.manager.controllers.fair_sharing = configuration->fair_sharing.has_value();
  return options;
}

class Story : public ::testing::TestWithParam<std::string> {};

TEST_P(Story, EndsAsWritten) {
  const fs::path base = fs::path(MUSTER_SIM_CASES) / GetParam();
  Manifests manifests;
  const Status read = read_manifests(content(base.string() + ".yaml"), GetParam() + ".yaml", manifests);
  ASSERT_TRUE(read.ok()) << to_string(read.error());
  EXPECT_TRUE(manifests.warnings.empty());
  framework::Registry registry;
  plugins::register_all(registry);
  Simulator simulator(options_of(base.string() + ".config"), registry);
  simulator.submit(manifests.submissions);
  while (simulator.step()) {
    const std::vector<std::string> broken = testing::violations(simulator);
    ASSERT_TRUE(broken.empty()) << broken.front();
  }
  EXPECT_TRUE(simulator.refusals().empty());
  const std::string table = to_table(make_report(simulator));
  if (std::getenv("MUSTER_UPDATE_CASES") != nullptr) {
    std::ofstream(base.string() + ".txt") << table;
  }
  EXPECT_EQ(table, content(base.string() + ".txt"));
}

INSTANTIATE_TEST_SUITE_P(Cases, Story, ::testing::ValuesIn(case_names()), [](const auto& row) { return row.param; });

}  // namespace
}  // namespace muster::sim
