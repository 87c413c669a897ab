#include "sim/gantt.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::sim {
namespace {

using Span = JobReport::Span;

constexpr std::size_t kMaxLanes = 200;
constexpr std::size_t kTallLanes = 60;  // more lanes than this are drawn thin
constexpr double kChartWidth = 960;
constexpr double kMargin = 20;
constexpr double kCharWidth = 7.2;  // of the 12 px labels
constexpr std::size_t kMaxLabel = 36;
constexpr double kHeader = 64;
constexpr double kAxis = 28;
constexpr double kLegendRow = 22;

constexpr std::array<std::string_view, 10> kColours = {"#2f6fb5", "#d9822b", "#3f9a56", "#8a5fb0", "#b5483f",
                                                       "#2b9aa8", "#a08a1f", "#c45d93", "#5d6b7a", "#7a9a2b"};

enum class Fill : std::uint8_t { kLight, kHalf, kSolid };

struct Bar {
  Duration from{};
  Duration to{};
  Fill fill = Fill::kSolid;
  std::size_t colour = 0;
  bool evicted = false;
  std::string text{};  // within the bar, where there is room
  std::string tooltip{};
};

struct Lane {
  std::string label{};
  std::size_t group = 0;  // lanes of one group (a node) share a background
  std::vector<Bar> bars{};
};

struct Chart {
  std::vector<Lane> lanes{};
  std::vector<std::string> queues{};  // colour by position
  std::size_t left_out = 0;
  std::string summary{};
  Duration end{};
};

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return result;
}

std::string shortened(const std::string& text, std::size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit - 1) + "…";
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : ", ") + part;
  }
  return text;
}

std::string short_duration(Duration duration) {
  std::string text = format_duration(duration);
  for (const std::string_view zero : {"m0s", "h0m"}) {
    if (text.ends_with(zero)) {
      text.resize(text.size() - 2);
    }
  }
  return text;
}

// ---- from the report to lanes ----

// namespace/queue: LocalQueues of two namespaces may share a name.
std::string queue_of(const JobReport& job) {
  return job.queue.empty() ? "no queue" : job.name.substr(0, job.name.find('/') + 1) + job.queue;
}

std::size_t colour_of(const std::vector<std::string>& queues, const JobReport& job) {
  const auto found = std::find(queues.begin(), queues.end(), queue_of(job));
  return static_cast<std::size_t>(found - queues.begin());
}

Bar bar_of(const JobReport& job, const Span& span, std::size_t colour) {
  constexpr std::array<std::string_view, 3> kWhat = {"waits", "starts", "runs"};
  Bar bar{.from = span.from, .to = span.to, .colour = colour, .evicted = span.evicted};
  bar.fill = span.what == Span::What::kWaiting    ? Fill::kLight
             : span.what == Span::What::kStarting ? Fill::kHalf
                                                  : Fill::kSolid;
  bar.text = span.what == Span::What::kRunning ? joined(span.nodes) : std::string();
  bar.tooltip = fmt::format("{} {} from {} to {}", job.name, kWhat[static_cast<std::size_t>(span.what)],
                            short_duration(span.from), short_duration(span.to));
  if (!span.nodes.empty()) {
    bar.tooltip += " on " + joined(span.nodes);
  }
  if (span.evicted) {
    bar.tooltip += ", then is evicted";
  }
  return bar;
}

void add_job_lanes(const Report& report, Chart& chart) {
  for (const JobReport& job : report.jobs) {
    Lane lane{.label = job.name, .group = chart.lanes.size()};
    for (const Span& span : job.spans) {
      lane.bars.push_back(bar_of(job, span, colour_of(chart.queues, job)));
    }
    chart.lanes.push_back(std::move(lane));
  }
}

// As many lanes a node as jobs share it at once.
void add_node_lanes(const Report& report, Chart& chart) {
  std::map<std::string, std::vector<Bar>> by_node;
  for (const JobReport& job : report.jobs) {
    for (const Span& span : job.spans) {
      for (const std::string& node : span.nodes) {
        Bar bar = bar_of(job, span, colour_of(chart.queues, job));
        bar.text = job.name.substr(job.name.find('/') + 1);
        by_node[node].push_back(std::move(bar));
      }
    }
  }
  std::size_t group = 0;
  for (auto& [node, bars] : by_node) {
    ++group;
    std::stable_sort(bars.begin(), bars.end(), [](const Bar& a, const Bar& b) { return a.from < b.from; });
    const std::size_t first = chart.lanes.size();
    for (Bar& bar : bars) {
      auto lane = chart.lanes.begin() + static_cast<std::ptrdiff_t>(first);
      while (lane != chart.lanes.end() && lane->bars.back().to > bar.from) {
        ++lane;
      }
      if (lane == chart.lanes.end()) {
        chart.lanes.push_back({.label = chart.lanes.size() == first ? node : std::string(), .group = group});
        lane = std::prev(chart.lanes.end());
      }
      lane->bars.push_back(std::move(bar));
    }
  }
}

Chart chart_of(const Report& report, GanttLanes lanes) {
  Chart chart;
  chart.summary = fmt::format("{}; makespan {}", summary(report), short_duration(report.makespan));
  for (const JobReport& job : report.jobs) {
    if (std::string queue = queue_of(job);
        std::find(chart.queues.begin(), chart.queues.end(), queue) == chart.queues.end()) {
      chart.queues.push_back(std::move(queue));
    }
    for (const Span& span : job.spans) {
      chart.end = std::max(chart.end, span.to);
    }
  }
  std::sort(chart.queues.begin(), chart.queues.end());
  if (lanes == GanttLanes::kJobs) {
    add_job_lanes(report, chart);
  } else {
    add_node_lanes(report, chart);
  }
  if (chart.lanes.size() > kMaxLanes) {
    chart.left_out = chart.lanes.size() - kMaxLanes;
    chart.lanes.resize(kMaxLanes);
  }
  return chart;
}

// ---- from lanes to SVG ----

// A step of the axis that a person would choose, for at most ten ticks.
Duration tick_step(Duration end) {
  constexpr std::int64_t kSeconds[] = {1,    2,    5,    10,    15,    30,    60,    120,    300,    600,    900,
                                       1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 604800, 1209600};
  for (const std::int64_t seconds : kSeconds) {
    if (std::chrono::seconds(seconds) * 10 >= end) {
      return std::chrono::seconds(seconds);
    }
  }
  return std::chrono::duration_cast<Duration>(std::chrono::hours(24 * 30)) *
         (end / (std::chrono::hours(24 * 30) * 10) + 1);
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart)
      : chart_(chart),
        lane_(chart.lanes.size() <= kTallLanes ? 24 : 13),
        end_(std::max<Duration>(chart.end, std::chrono::seconds(1))) {
    std::size_t longest = 0;
    for (const Lane& lane : chart.lanes) {
      longest = std::max(longest, std::min(lane.label.size(), kMaxLabel));
    }
    left_ = kMargin + static_cast<double>(longest) * kCharWidth + 12;
    bottom_ = kHeader + lane_ * static_cast<double>(chart.lanes.size());
  }

  std::string draw() {
    place_legend();
    const double width = left_ + kChartWidth + kMargin;
    const double height = legend_top_ + kLegendRow * static_cast<double>(legend_rows_) + kMargin;
    out_ = fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} "
        "{1:.0f}\" "
        "font-family=\"DejaVu Sans, Helvetica, Arial, sans-serif\" font-size=\"12\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
        width, height);
    draw_header();
    draw_grid();
    for (std::size_t i = 0; i < chart_.lanes.size(); ++i) {
      draw_lane(i);
    }
    draw_axis_labels();
    draw_legend();
    return out_ + "</svg>\n";
  }

 private:
  double x(Duration time) const {
    return left_ + kChartWidth * static_cast<double>(time.count()) / static_cast<double>(end_.count());
  }

  void text(double x, double y, std::string_view attributes, std::string_view content) {
    out_ += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, attributes, escaped(content));
  }

  void draw_header() {
    text(kMargin, 28, "font-size=\"16\" font-weight=\"bold\" fill=\"#1f2933\"", "muster simulate");
    std::string note = chart_.summary;
    if (chart_.left_out > 0) {
      note += fmt::format("; the first {} lanes are shown, {} are not", chart_.lanes.size(), chart_.left_out);
    }
    text(kMargin, 48, "fill=\"#5d6b7a\"", note);
  }

  void draw_grid() {
    for (std::size_t i = 0; i < chart_.lanes.size(); ++i) {
      if (chart_.lanes[i].group % 2 != 0) {
        continue;
      }
      out_ += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"#f5f7f9\"/>\n",
                          kMargin, kHeader + lane_ * static_cast<double>(i), left_ - kMargin + kChartWidth, lane_);
    }
    for (Duration tick{}; tick <= end_; tick += tick_step(end_)) {
      out_ += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" stroke=\"#d5dbe1\"/>\n",
                          x(tick), kHeader, bottom_ + 4);
    }
  }

  void draw_axis_labels() {
    for (Duration tick{}; tick <= end_; tick += tick_step(end_)) {
      text(x(tick), bottom_ + 18, "text-anchor=\"middle\" fill=\"#5d6b7a\"", short_duration(tick));
    }
  }

  void draw_lane(std::size_t index) {
    const Lane& lane = chart_.lanes[index];
    const double top = kHeader + lane_ * static_cast<double>(index);
    const double baseline = top + lane_ / 2 + (is_tall() ? 4 : 3.4);
    text(left_ - 8, baseline,
         is_tall() ? "text-anchor=\"end\" fill=\"#1f2933\"" : "text-anchor=\"end\" fill=\"#1f2933\" font-size=\"10\"",
         shortened(lane.label, kMaxLabel));
    for (const Bar& bar : lane.bars) {
      draw_bar(bar, top, baseline);
    }
  }

  void draw_bar(const Bar& bar, double top, double baseline) {
    constexpr std::array<double, 3> kOpacity = {0.22, 0.5, 1};
    constexpr std::string_view kEdge = "stroke=\"#ffffff\" stroke-width=\"0.7\"";  // would hide a short bar
    const double inset = is_tall() ? 4 : 2;
    const double width = std::max(x(bar.to) - x(bar.from), 1.0);
    out_ += fmt::format(
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" fill-opacity=\"{}\" "
        "{}><title>{}</title></rect>\n",
        x(bar.from), top + inset, width, lane_ - 2 * inset, colour(bar.colour),
        kOpacity[static_cast<std::size_t>(bar.fill)], width > 4 ? kEdge : "", escaped(bar.tooltip));
    const auto room =
        static_cast<std::size_t>(std::max(0.0, (width - (bar.evicted ? lane_ : 14)) / (kCharWidth * 0.82)));
    if (is_tall() && bar.fill == Fill::kSolid && !bar.text.empty() && room >= 4) {
      text(x(bar.from) + 6, baseline - 0.5, "font-size=\"10\" fill=\"#ffffff\"", shortened(bar.text, room));
    }
    if (bar.evicted) {
      draw_eviction(x(bar.to), top);
    }
  }

  // A red edge with a triangle that points back: what ran was taken away here.
  void draw_eviction(double at, double top) {
    const double middle = top + lane_ / 2;
    const double half = lane_ / 2 - 2;
    out_ += fmt::format(
        "<path d=\"M{0:.1f} {1:.1f}V{2:.1f}M{0:.1f} {1:.1f}L{3:.1f} {4:.1f}L{0:.1f} {2:.1f}Z\" "
        "stroke=\"#c81e1e\" stroke-width=\"2\" fill=\"#c81e1e\"/>\n",
        at, middle - half, middle + half, at - half, middle);
  }

  // Legend: queues, then the meaning of the fills, wrapped to the width of the picture.
  void place_legend() {
    legend_top_ = bottom_ + kAxis + 8;
    double at = kMargin;
    for (const std::string& entry : legend_entries()) {
      const double width = 26 + kCharWidth * static_cast<double>(entry.size()) + 18;
      if (at + width > left_ + kChartWidth && at > kMargin) {
        at = kMargin;
        legend_rows_ += 1;
      }
      legend_.push_back({at, legend_top_ + kLegendRow * static_cast<double>(legend_rows_ - 1)});
      at += width;
    }
  }

  std::vector<std::string> legend_entries() const {
    std::vector<std::string> entries = chart_.queues;
    for (const char* meaning : {"waits", "admitted, starts", "runs", "evicted"}) {
      entries.emplace_back(meaning);
    }
    return entries;
  }

  void draw_legend() {
    constexpr std::array<std::string_view, 3> kOpacity = {"0.22", "0.5", "1"};
    const std::vector<std::string> entries = legend_entries();
    const std::size_t queues = chart_.queues.size();
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto& [at, top] = legend_[i];
      if (i == queues + 3) {
        draw_eviction(at + 14, top - (lane_ - 14) / 2);
      } else {
        const std::string_view fill = i < queues ? colour(i) : "#5d6b7a";
        out_ += fmt::format(
            "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"18\" height=\"14\" fill=\"{}\" "
            "fill-opacity=\"{}\"/>\n",
            at, top, fill, i < queues ? "1" : kOpacity[i - queues]);
      }
      text(at + 24, top + 11.5, "fill=\"#1f2933\"", entries[i]);
    }
  }

  static std::string_view colour(std::size_t index) { return kColours[index % kColours.size()]; }

  bool is_tall() const { return lane_ > 20; }

  const Chart& chart_;
  double lane_;
  Duration end_;
  double left_ = 0;
  double bottom_ = 0;
  double legend_top_ = 0;
  int legend_rows_ = 1;
  std::vector<std::pair<double, double>> legend_{};
  std::string out_{};
};

}  // namespace

std::string to_svg(const Report& report, GanttLanes lanes) {
  const Chart chart = chart_of(report, lanes);
  return Drawing(chart).draw();
}

}  // namespace muster::sim
