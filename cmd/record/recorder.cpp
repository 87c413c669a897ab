#include "cmd/record/recorder.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

namespace muster::cmd {

// Owns the stream; every failure as an Error with the file's name.
class Recorder::File {
 public:
  static Result<std::unique_ptr<File>> open(const std::string& path) {
    std::FILE* stream = std::fopen(path.c_str(), "a+b");
    if (stream == nullptr) {
      return Error{.code = ErrorCode::kUnavailable, .message = path + ": " + std::strerror(errno)};
    }
    std::unique_ptr<File> file(new File(path, stream));
    // A process that was killed while it wrote left half a line.
    if (std::fseek(stream, -1, SEEK_END) == 0 && std::fgetc(stream) != '\n') {
      MUSTER_RETURN_IF_ERROR(file->write("\n"));
    }
    return file;
  }

  ~File() { std::fclose(stream_); }

  File(const File&) = delete;
  File& operator=(const File&) = delete;

  Status write(const std::string& text) {
    const bool written = std::fwrite(text.data(), 1, text.size(), stream_) == text.size();
    return written && std::fflush(stream_) == 0 ? Status{} : Status{failure()};
  }

 private:
  File(std::string path, std::FILE* stream) : path_(std::move(path)), stream_(stream) {}

  Error failure() const { return {.code = ErrorCode::kUnavailable, .message = path_ + ": " + std::strerror(errno)}; }

  std::string path_;
  std::FILE* stream_;
};

Result<std::unique_ptr<Recorder>> Recorder::open(const std::string& path, const Started& started, Report report,
                                                 RecorderOptions options) {
  MUSTER_TRY(file, File::open(path));
  MUSTER_RETURN_IF_ERROR(file->write(format_line(started) + "\n"));
  return std::unique_ptr<Recorder>(new Recorder(std::move(file), std::move(report), options));
}

Recorder::Recorder(std::unique_ptr<File> file, Report report, RecorderOptions options)
    : file_(std::move(file)), report_(std::move(report)), options_(options), thread_([this] { write_all(); }) {}

Recorder::~Recorder() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void Recorder::apply(TimePoint now, const framework::Event& event) {
  push(Applied{.now = now, .event = event}, 1);
}

void Recorder::settle(TimePoint now, const framework::Output& output) {
  cycle_ = last_cycle(cycle_, output.trace);
  push(Settle{.now = now, .cycle = cycle_, .effects = output.effects}, 1 + output.effects.size());
}

void Recorder::push(Entry entry, std::size_t weight) {
  std::unique_lock lock(mutex_);
  if (failed_) {
    return;
  }
  const auto has_room = [this] { return failed_ || weight_ < options_.most_queued; };
  if (!room_.wait_for(lock, options_.longest_wait, has_room)) {
    lock.unlock();
    give_up({.code = ErrorCode::kTimeout, .message = "the disk does not keep up"});
    return;
  }
  queue_.push_back(std::move(entry));
  weight_ += weight;
  lock.unlock();
  news_.notify_one();
}

// The writing thread.
void Recorder::write_all() noexcept {
  constexpr std::size_t kBlock = 1U << 16;
  std::vector<Entry> batch;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      news_.wait(lock, [this] { return closing_ || !queue_.empty(); });
      if (queue_.empty()) {
        return;
      }
      batch = std::exchange(queue_, {});
      weight_ = 0;
    }
    room_.notify_one();
    std::string text;
    for (Entry& entry : batch) {
      text += line_of(std::move(entry)) + "\n";
      if (text.size() < kBlock && &entry != &batch.back()) {
        continue;
      }
      if (const Status written = file_->write(text); !written.ok()) {
        give_up(written.error());
        return;
      }
      text.clear();
    }
  }
}

void Recorder::give_up(const Error& error) {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(failed_, true)) {
      return;
    }
    queue_.clear();
  }
  room_.notify_one();
  report_(error);
}

std::string Recorder::line_of(Entry entry) {
  if (const auto* settle = std::get_if<Settle>(&entry)) {
    return format_line(settled(settle->now, settle->cycle, settle->effects));
  }
  return format_line(std::get<Applied>(std::move(entry)));
}

}  // namespace muster::cmd
