// Reflectors: keeps the core's picture of every watched kind up to date. One thread a kind, each a thin shell around a
// WatchState; what is news goes into the EventQueue, and Synced once every kind's first list has been delivered.
//
// Thread: start and stop by the owner, the rest from any thread. A full queue holds the watch back (and with it the
// peer); nothing is dropped.
#pragma once

#include "client/event_queue.h"
#include "client/pacing.h"
#include "client/watch_state.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace muster::client {

struct ReflectorOptions {
  BackoffLimits backoff{};
  net::StreamOptions stream{};
};

// Called by the watch threads for refused requests, broken streams and objects that can't be decoded.
using ReportProblem = std::function<void(const Error&)>;

struct ReflectorStats {
  std::string kind{};
  bool synced = false;         // the first list has been delivered
  std::uint64_t objects = 0;   // known now
  std::uint64_t lists = 0;     // completed
  std::uint64_t watches = 0;   // begun
  std::uint64_t events = 0;    // given to the core
  std::uint64_t problems = 0;  // reported
};

class Reflectors {
 public:
  // `transport` and `events` must outlive this.
  Reflectors(net::Transport& transport, EventQueue& events, std::vector<WatchedKind> kinds, ReportProblem report,
             ReflectorOptions options = {});
  ~Reflectors();  // stops
  Reflectors(const Reflectors&) = delete;
  Reflectors& operator=(const Reflectors&) = delete;

  void start();
  // Ends every watch and joins. Afterwards nothing more is pushed.
  void stop();

  std::vector<ReflectorStats> stats() const;
  // Kinds whose first list is still missing; for the readiness answer.
  std::vector<std::string> not_synced() const;

 private:
  class Reflector;

  std::atomic<std::size_t> missing_lists_;
  std::vector<std::unique_ptr<Reflector>> reflectors_{};
  std::vector<std::jthread> threads_{};
};

}  // namespace muster::client
