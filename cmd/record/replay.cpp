#include "cmd/record/replay.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

namespace muster::cmd {
namespace {

constexpr std::string_view kStarted = R"({"started")";

std::uint64_t count_processes(std::istream& log) {
  std::uint64_t count = 0;
  for (std::string line; std::getline(log, line);) {
    count += line.starts_with(kStarted) ? 1U : 0U;
  }
  log.clear();
  log.seekg(0);
  return count;
}

// The first place where they differ; the hash speaks for what a description leaves out.
std::optional<Difference> compare(const Settled& recorded, const Settled& replayed) {
  const auto [left, right] =
      std::mismatch(recorded.effects.begin(), recorded.effects.end(), replayed.effects.begin(), replayed.effects.end());
  if (left == recorded.effects.end() && right == replayed.effects.end()) {
    if (recorded.hash == replayed.hash) {
      return std::nullopt;
    }
    return Difference{.recorded = "hash " + std::to_string(recorded.hash) + " of the effects in full",
                      .replayed = "hash " + std::to_string(replayed.hash) + " with the same descriptions"};
  }
  return Difference{.effect = static_cast<std::size_t>(std::distance(recorded.effects.begin(), left)),
                    .recorded = left == recorded.effects.end() ? std::string() : *left,
                    .replayed = right == replayed.effects.end() ? std::string() : *right};
}

class Replay {
 public:
  Replay(std::istream& log, const framework::Registry& registry, const ReplayOptions& options)
      : log_(log), registry_(registry), options_(options), processes_(count_processes(log)) {}

  Result<Replayed> run() {
    std::string text;
    while (!done_ && std::getline(log_, text)) {
      ++line_;
      if (text.empty()) {
        continue;
      }
      Result<LogLine> line = parse_line(text);
      if (!line.ok()) {
        if (!is_cut_off()) {
          return at_line(line.error());
        }
        out_.cut_off = true;
        continue;
      }
      if (const Status taken = std::visit([this](auto& input) { return take(input); }, *line); !taken.ok()) {
        return at_line(taken.error());
      }
    }
    if (out_.processes == 0) {
      return invalid("not a recording: it does not begin with a started line");
    }
    return std::move(out_);
  }

 private:
  Status take(const Started& line) {
    MUSTER_TRY(parts, make_parts(line.setup, registry_, {}));
    out_.core = make_core(std::move(parts));
    ++out_.processes;
    out_.cycles = 0;
    return {};
  }

  Status take(const Applied& line) {
    MUSTER_RETURN_IF_ERROR(check_started());
    out_.core->apply(line.now, line.event);
    out_.now = line.now;
    ++out_.events;
    return {};
  }

  Status take(const Settled& line) {
    MUSTER_RETURN_IF_ERROR(check_started());
    const framework::Output output = out_.core->settle(line.now);
    out_.now = line.now;
    ++out_.settles;
    out_.effects += output.effects.size();
    out_.cycles = last_cycle(out_.cycles, output.trace);
    if (const bool last = out_.processes == processes_; last) {
      keep_trace(output.trace);
      done_ = options_.until && out_.cycles >= *options_.until;
    }
    out_.difference = compare(line, settled(line.now, out_.cycles, output.effects));
    if (out_.difference) {
      out_.difference->line = line_;
      out_.difference->process = out_.processes;
      out_.difference->cycle = out_.cycles;
      done_ = true;
    }
    return {};
  }

  Status check_started() const {
    return out_.core != nullptr ? Status{} : Status{invalid("not a recording: it does not begin with a started line")};
  }

  void keep_trace(const framework::Trace& trace) {
    std::copy_if(trace.begin(), trace.end(), std::back_inserter(out_.shown),
                 [this](const framework::TraceEntry& entry) { return entry.cycle == options_.show_cycle; });
  }

  // Nothing follows the line at hand, or another process.
  bool is_cut_off() {
    const auto begin_of_next = log_.peek() == std::char_traits<char>::eof() ? std::streampos(-1) : log_.tellg();
    if (begin_of_next == std::streampos(-1)) {
      return true;
    }
    std::string next;
    std::getline(log_, next);
    log_.clear();
    log_.seekg(begin_of_next);
    return next.starts_with(kStarted);
  }

  Error at_line(const Error& error) const { return invalid("line " + std::to_string(line_) + ": " + to_string(error)); }

  std::istream& log_;
  const framework::Registry& registry_;
  const ReplayOptions& options_;
  std::uint64_t processes_;
  std::uint64_t line_ = 0;
  bool done_ = false;
  Replayed out_{};
};

}  // namespace

Result<Replayed> replay(std::istream& log, const framework::Registry& registry, const ReplayOptions& options) {
  return Replay(log, registry, options).run();
}

Result<Replayed> replay_file(const std::string& path, const framework::Registry& registry,
                             const ReplayOptions& options) {
  std::ifstream log(path, std::ios::binary);
  if (!log) {
    return Error{.code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                 .message = path + ": " + std::strerror(errno)};
  }
  Result<Replayed> replayed = replay(log, registry, options);
  if (!replayed.ok()) {
    return invalid(path + ": " + to_string(replayed.error()));
  }
  return replayed;
}

}  // namespace muster::cmd
