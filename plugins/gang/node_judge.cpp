#include "plugins/gang/node_judge.h"

#include <algorithm>

namespace muster::plugins::gang {
namespace {

using framework::NodeId;
using framework::NodeInfo;
using framework::NodePlugins;
using framework::Normalisation;
using framework::PodShape;
using framework::Verdict;

// spec/placement.md §2, DefaultNormalize.
std::int64_t normalised(std::int64_t raw, std::int64_t highest, Normalisation how) {
  constexpr std::int64_t kMax = 100;
  const std::int64_t scaled = highest == 0 ? raw : kMax * raw / highest;
  return how == Normalisation::kByHighestReversed ? kMax - scaled : scaled;
}

}  // namespace

Verdict NodeJudge::pre_filter(const PodShape& shape) const {
  for (const NodePlugins::FilterEntry& entry : plugins_.filters) {
    if (Verdict verdict = entry.plugin->pre_filter(shape); !verdict.ok()) {
      return verdict;
    }
  }
  return {};
}

Verdict NodeJudge::filter(const PodShape& shape, NodeId node) const {
  const NodeInfo judged = info(node);
  for (const NodePlugins::FilterEntry& entry : plugins_.filters) {
    if (Verdict verdict = entry.plugin->filter_static(shape, judged); !verdict.ok()) {
      return verdict;
    }
  }
  return {};
}

std::pair<Amount, Verdict> NodeJudge::capacity(const PodShape& shape, NodeId node, Amount wanted) const {
  const NodeInfo judged = info(node);
  Amount fit = wanted;
  for (const NodePlugins::FilterEntry& entry : plugins_.filters) {
    auto [taken, verdict] = entry.plugin->capacity(shape, judged, fit);
    fit = std::min(fit, taken);
    if (fit <= 0) {
      return {0, std::move(verdict)};
    }
  }
  return {fit, Verdict{}};
}

Amount NodeJudge::fit(const PodShape& shape, NodeId node, Amount wanted) const {
  return filter(shape, node).ok() ? capacity(shape, node, wanted).first : 0;
}

std::vector<std::int64_t> NodeJudge::preferences(const PodShape& shape, const std::vector<NodeId>& nodes) const {
  std::vector<std::int64_t> sums(nodes.size(), 0);
  std::vector<std::int64_t> raw(nodes.size(), 0);
  for (const NodePlugins::ScoreEntry& entry : plugins_.scores) {
    const Normalisation how = entry.plugin->normalisation();
    if (how == Normalisation::kNone) {
      continue;
    }
    std::int64_t highest = 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      raw[i] = entry.plugin->score(shape, info(nodes[i]));
      highest = std::max(highest, raw[i]);
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      sums[i] += entry.weight * normalised(raw[i], highest, how);
    }
  }
  return sums;
}

std::int64_t NodeJudge::usage_score(const PodShape& shape, NodeId node) const {
  const NodeInfo judged = info(node);
  std::int64_t sum = 0;
  for (const NodePlugins::ScoreEntry& entry : plugins_.scores) {
    if (entry.plugin->normalisation() == Normalisation::kNone) {
      sum += entry.weight * entry.plugin->score(shape, judged);
    }
  }
  return sum;
}

}  // namespace muster::plugins::gang
