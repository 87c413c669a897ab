#include "sim/gantt.h"

namespace muster::sim {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Span = JobReport::Span;

JobReport a_job(const std::string& name) {
  return {
      .name = name,
      .queue = "q",
      .spans = {{.to = Duration(10'000), .what = Span::What::kWaiting},
                {.from = Duration(10'000), .to = Duration(70'000), .what = Span::What::kRunning, .nodes = {"n-1"}}}};
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++found;
  }
  return found;
}

TEST(Gantt, NamesJobsQueuesNodesAndTimes) {
  const std::string svg = to_svg({.jobs = {a_job("team/a")}}, GanttLanes::kJobs);
  for (const char* part : {"team/a", "team/q", "n-1", "10s", "runs from 10s to 1m10s on n-1"}) {
    EXPECT_THAT(svg, HasSubstr(part));
  }
}

TEST(Gantt, EscapesWhatItIsGiven) {
  const std::string svg = to_svg({.jobs = {a_job("team/<script>&\"x\"")}}, GanttLanes::kJobs);
  EXPECT_THAT(svg, Not(HasSubstr("<script>")));
  EXPECT_THAT(svg, HasSubstr("&lt;script&gt;&amp;&quot;x&quot;"));
}

TEST(Gantt, MarksEvictions) {
  JobReport job = a_job("team/a");
  const std::size_t in_legend = count(to_svg({.jobs = {job}}, GanttLanes::kJobs), "<path");
  job.spans.back().evicted = true;
  EXPECT_EQ(count(to_svg({.jobs = {job}}, GanttLanes::kJobs), "<path"), in_legend + 1);
}

TEST(Gantt, SaysWhatItLeavesOut) {
  Report report;
  for (int i = 0; i < 250; ++i) {
    report.jobs.push_back(a_job("team/job-" + std::to_string(i)));
  }
  EXPECT_THAT(to_svg(report, GanttLanes::kJobs), HasSubstr("the first 200 lanes are shown, 50 are not"));
}

TEST(Gantt, GivesANodeALaneForEachJobItRunsAtOnce) {
  const Report report{.jobs = {a_job("team/a"), a_job("team/b")}};
  const std::string svg = to_svg(report, GanttLanes::kNodes);
  EXPECT_EQ(count(svg, ">n-1</text>"), 1U);
  EXPECT_EQ(count(svg, "<title>"), 2U);
}

TEST(Gantt, OfNothingIsADocument) {
  EXPECT_THAT(to_svg({}, GanttLanes::kJobs), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace muster::sim
