// A simulation as a picture: an SVG document with one lane a job (or a node), coloured by queue. Pure.
#pragma once

#include "sim/report.h"

#include <cstdint>
#include <string>

namespace muster::sim {

enum class GanttLanes : std::uint8_t { kJobs, kNodes };

// Lanes beyond a readable number are left out, and the picture says so.
std::string to_svg(const Report& report, GanttLanes lanes);

}  // namespace muster::sim
