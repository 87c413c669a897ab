// SeriesTable: one metric family and the series it has at the moment, by the values of its labels. Keeps what
// prometheus-cpp does not: which series exist, so that they can end. Internal to server/; guarded by its owner.
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <map>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::server {

using LabelValues = std::vector<std::string>;

struct FamilyText {
  std::string name{};
  std::string help{};
  std::vector<std::string> labels{};
  prometheus::Histogram::BucketBoundaries buckets{};  // of histograms
};

template <class Metric>
class SeriesTable {
 public:
  // `common` are labels that every series has.
  SeriesTable(prometheus::Registry& registry, FamilyText text, prometheus::Labels common)
      : text_(std::move(text)), common_(std::move(common)), family_(make(registry)) {}

  // The series with these values, in the order of FamilyText::labels; made when it does not exist.
  Metric& at(const LabelValues& values) {
    if constexpr (std::is_same_v<Metric, prometheus::Gauge>) {
      fresh_.insert(values);
    }
    const auto found = series_.find(values);
    return found != series_.end() ? *found->second : *series_.emplace(values, &add(values)).first->second;
  }

  // Ends every series for which `ended(values)` holds.
  template <class Ended>
  void end_if(Ended ended) {
    for (auto it = series_.begin(); it != series_.end();) {
      if (ended(it->first)) {
        family_.Remove(it->second);
        it = series_.erase(it);
      } else {
        ++it;
      }
    }
  }

  // Of gauges: ends the series that at() has not met since the last sweep.
  void sweep() {
    end_if([this](const LabelValues& values) { return !fresh_.contains(values); });
    fresh_.clear();
  }

 private:
  prometheus::Family<Metric>& make(prometheus::Registry& registry) {
    if constexpr (std::is_same_v<Metric, prometheus::Gauge>) {
      return prometheus::BuildGauge().Name(text_.name).Help(text_.help).Register(registry);
    } else if constexpr (std::is_same_v<Metric, prometheus::Counter>) {
      return prometheus::BuildCounter().Name(text_.name).Help(text_.help).Register(registry);
    } else {
      return prometheus::BuildHistogram().Name(text_.name).Help(text_.help).Register(registry);
    }
  }

  Metric& add(const LabelValues& values) {
    prometheus::Labels labels = common_;
    for (std::size_t i = 0; i < values.size(); ++i) {
      labels.emplace(text_.labels[i], values[i]);
    }
    if constexpr (std::is_same_v<Metric, prometheus::Histogram>) {
      return family_.Add(labels, text_.buckets);
    } else {
      return family_.Add(labels);
    }
  }

  FamilyText text_;
  prometheus::Labels common_;
  prometheus::Family<Metric>& family_;
  std::map<LabelValues, Metric*> series_{};
  std::set<LabelValues> fresh_{};
};

using GaugeTable = SeriesTable<prometheus::Gauge>;
using CounterTable = SeriesTable<prometheus::Counter>;
using HistogramTable = SeriesTable<prometheus::Histogram>;

}  // namespace muster::server
