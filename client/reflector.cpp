#include "client/reflector.h"

#include "client/line_assembler.h"

#include <algorithm>
#include <optional>
#include <random>
#include <utility>

namespace muster::client {

// One kind. Everything but the counters belongs to its thread.
class Reflectors::Reflector {
 public:
  struct Shared {
    net::Transport& transport;
    EventQueue& events;
    ReportProblem report;
    ReflectorOptions options;
    std::atomic<std::size_t>& missing_lists;
  };

  Reflector(const Shared& shared, WatchedKind kind)
      : shared_(shared), name_(kind.name), state_(std::move(kind)), backoff_(shared.options.backoff) {}

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      const WatchOutcome outcome = state_.must_list() ? list(stop) : watch(stop);
      if (outcome.back_off && !stop.stop_requested()) {
        sleep_for(std::max(backoff_.next(unit()), outcome.wait_at_least), stop);
      }
    }
  }

  ReflectorStats stats() const {
    return {.kind = name_,
            .synced = synced_,
            .objects = objects_,
            .lists = lists_,
            .watches = watches_,
            .events = pushed_,
            .problems = problems_};
  }

 private:
  class WatchSink;

  WatchOutcome list(const std::stop_token& stop) {
    const auto page = shared_.transport.call(state_.list_request(), stop);
    if (stop.stop_requested()) {
      return {};
    }
    WatchOutcome outcome = state_.on_page(page);
    if (deliver(outcome, stop) && outcome.list_complete) {
      ++lists_;
      announce_first_list(stop);
    }
    return outcome;
  }

  WatchOutcome watch(const std::stop_token& stop);

  // False: stopped before everything was in the queue.
  bool deliver(WatchOutcome& outcome, const std::stop_token& stop) {
    for (const Error& problem : outcome.problems) {
      ++problems_;
      shared_.report(problem);
    }
    for (ObjectEvent& event : outcome.events) {
      if (!push(std::move(event), stop)) {
        return false;
      }
      ++pushed_;
    }
    objects_ = state_.known();
    if (outcome.healthy) {
      backoff_.reset();
    }
    return true;
  }

  bool push(framework::Event event, const std::stop_token& stop) { return shared_.events.push(std::move(event), stop); }

  void announce_first_list(const std::stop_token& stop) {
    if (!synced_.exchange(true) && shared_.missing_lists.fetch_sub(1) == 1) {
      push(framework::Synced{}, stop);
    }
  }

  double unit() { return std::uniform_real_distribution<double>(0, 1)(random_); }

  Shared shared_;
  std::string name_;
  WatchState state_;
  Backoff backoff_;
  std::mt19937_64 random_{std::random_device{}()};
  std::atomic<bool> synced_ = false;
  std::atomic<std::uint64_t> objects_ = 0;
  std::atomic<std::uint64_t> lists_ = 0;
  std::atomic<std::uint64_t> watches_ = 0;
  std::atomic<std::uint64_t> pushed_ = 0;
  std::atomic<std::uint64_t> problems_ = 0;
};

// Feeds a watch's bytes to the state, line by line. Keeps the body of a refusal.
class Reflectors::Reflector::WatchSink final : public net::ChunkSink {
 public:
  WatchSink(Reflector& reflector, std::stop_token stop) : reflector_(reflector), stop_(std::move(stop)) {}

  bool on_head(int status, const net::Headers& headers) override {
    head_ = net::Response{.status = status, .headers = headers};
    return true;
  }

  bool on_bytes(std::string_view bytes) override {
    if (head_.status != 200) {
      constexpr std::size_t kMaxRefusal = 64 << 10;
      head_.body.append(bytes.substr(0, kMaxRefusal - std::min(kMaxRefusal, head_.body.size())));
      return head_.body.size() < kMaxRefusal;
    }
    bool go_on = true;
    const Status cut = lines_.feed(bytes, [&](std::string_view line) {
      WatchOutcome outcome = reflector_.state_.on_line(line);
      go_on = reflector_.deliver(outcome, stop_) && !outcome.stop_reading;
      return go_on;
    });
    if (!cut.ok()) {
      broken_ = cut.error();
    }
    return go_on && cut.ok();
  }

  Result<net::Response> end(const Status& stream) && {
    if (broken_) {
      return *std::move(broken_);
    }
    if (!stream.ok()) {
      return stream.error();
    }
    return std::move(head_);
  }

 private:
  Reflector& reflector_;
  std::stop_token stop_;
  LineAssembler lines_{};
  net::Response head_{};
  std::optional<Error> broken_{};
};

WatchOutcome Reflectors::Reflector::watch(const std::stop_token& stop) {
  ++watches_;
  WatchSink sink(*this, stop);
  const Status stream = shared_.transport.stream(state_.watch_request(unit()), shared_.options.stream, sink, stop);
  if (stop.stop_requested()) {
    return {};
  }
  WatchOutcome outcome = state_.on_watch_end(std::move(sink).end(stream));
  deliver(outcome, stop);
  return outcome;
}

Reflectors::Reflectors(net::Transport& transport, EventQueue& events, std::vector<WatchedKind> kinds,
                       ReportProblem report, ReflectorOptions options)
    : missing_lists_(kinds.size()) {
  const Reflector::Shared shared{transport, events, std::move(report), options, missing_lists_};
  for (WatchedKind& kind : kinds) {
    reflectors_.push_back(std::make_unique<Reflector>(shared, std::move(kind)));
  }
}

Reflectors::~Reflectors() {
  stop();
}

void Reflectors::start() {
  for (const auto& reflector : reflectors_) {
    threads_.emplace_back([&watch = *reflector](const std::stop_token& stop) noexcept { watch.run(stop); });
  }
}

void Reflectors::stop() {
  for (std::jthread& thread : threads_) {
    thread.request_stop();
  }
  threads_.clear();
}

std::vector<ReflectorStats> Reflectors::stats() const {
  std::vector<ReflectorStats> all;
  for (const auto& reflector : reflectors_) {
    all.push_back(reflector->stats());
  }
  return all;
}

std::vector<std::string> Reflectors::not_synced() const {
  std::vector<std::string> kinds;
  for (const auto& reflector : reflectors_) {
    if (const ReflectorStats stats = reflector->stats(); !stats.synced) {
      kinds.push_back(stats.kind);
    }
  }
  return kinds;
}

}  // namespace muster::client
