// Writes a recording while a core works. The caller's thread only hands over shared objects and copies of effects; a
// thread of its own turns them into lines. What cannot be written ends the recording, never the caller: one report, and
// the file stays readable up to there.
//
// Thread: apply and settle from the one thread that owns the core.
#pragma once

#include "cmd/record/input_log.h"

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <variant>
#include <vector>

namespace muster::cmd {

struct RecorderOptions {
  std::size_t most_queued = 1U << 17;               // events and effects that wait for the disk
  Duration longest_wait = std::chrono::seconds(1);  // of the caller for a full queue, then the recording ends
};

class Recorder {
 public:
  using Report = std::function<void(const Error&)>;

  // Appends to the file: a manager that was restarted continues it. `report` is called at most once, from any thread.
  static Result<std::unique_ptr<Recorder>> open(const std::string& path, const Started& started, Report report,
                                                RecorderOptions options = {});
  // Writes what is queued.
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  void apply(TimePoint now, const framework::Event& event);
  void settle(TimePoint now, const framework::Output& output);

 private:
  struct Settle {
    TimePoint now{};
    std::uint64_t cycle = 0;
    framework::Effects effects{};
  };

  using Entry = std::variant<Applied, Settle>;
  class File;

  Recorder(std::unique_ptr<File> file, Report report, RecorderOptions options);
  void push(Entry entry, std::size_t weight);
  void write_all() noexcept;
  void give_up(const Error& error);
  static std::string line_of(Entry entry);

  std::unique_ptr<File> file_;  // of the writing thread, once that runs
  Report report_;
  RecorderOptions options_;
  std::uint64_t cycle_ = 0;  // of the caller's thread
  std::mutex mutex_{};
  std::condition_variable news_{};
  std::condition_variable room_{};
  std::vector<Entry> queue_{};  // guarded by mutex_
  std::size_t weight_ = 0;      // guarded by mutex_; of the queue
  bool closing_ = false;        // guarded by mutex_
  bool failed_ = false;         // guarded by mutex_; nothing is recorded any more
  std::thread thread_{};
};

}  // namespace muster::cmd
