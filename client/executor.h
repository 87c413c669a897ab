// Executor: carries the core's effects to the API server. A small pool of threads runs their programs; one write is in
// flight an object, newer effects replace older unsent ones of the same slot, and results go back as events. The only
// rate limit of Muster's writes. Kubernetes Events have a slower lane of their own and are dropped when it is full.
//
// Thread: submit from the decision thread (never blocks), everything else from any thread.
// Guarantees: EffectDone or EffectFailed exactly once for every effect but EmitEvent, unless stop() came first; of one
// object in the order in which the writes were made. A replaced effect gets the result of the one that replaced it.
#pragma once

#include "client/effect_run.h"
#include "client/event_queue.h"
#include "client/write_queue.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace muster::client {

struct ExecutorOptions {
  int threads = 16;
  RateLimit rate{.per_second = 300, .burst = 500};  // Configuration: clientConnection
  RateLimit event_rate{.per_second = 200, .burst = 200};
  std::size_t max_events = 2000;  // that wait
  RetryPolicy retry{};
  Duration call_deadline{15'000};
  // Asked before every request that is not a read. While it says no, writes wait: the lease is in doubt.
  std::function<bool()> may_write = [] { return true; };
};

struct RequestCount {
  std::string method{};
  std::string kind{};  // of the effect's object
  std::string code{};  // HTTP status, or the name of the ErrorCode when no answer came
  std::uint64_t count = 0;
  Duration spent{};  // in total
};

struct ExecutorStats {
  std::vector<RequestCount> requests{};
  std::size_t waiting = 0;    // effects not begun
  std::size_t under_way = 0;  // effects begun and not ended
  std::uint64_t replaced = 0;
  std::uint64_t repeated = 0;  // requests sent again
  std::uint64_t events_dropped = 0;
};

class Executor {
 public:
  // `transport` and `results` must outlive this.
  Executor(net::Transport& transport, framework::ProgramFactory programs, EventQueue& results,
           ExecutorOptions options = {});
  ~Executor();  // stops
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  void submit(framework::Effects effects);

  // Waits until everything submitted has ended. False: not within `limit`.
  bool drain(Duration limit);

  // Ends at once, for the loss of leadership: requests in flight are cancelled, nothing more is sent or reported.
  // Does not wait.
  void cease() { stop_.request_stop(); }

  // cease(), and joins the threads. By the owner.
  void stop();

  ExecutorStats stats() const;

 private:
  using RunPtr = std::unique_ptr<EffectRun>;

  void work(const std::stop_token& stop);
  void work_on_events(const std::stop_token& stop);
  RunPtr next_run(const std::stop_token& stop);
  RunPtr begin(PendingWrite write, const RetryPolicy& policy) const;
  void drive(RunPtr run, const std::stop_token& stop);
  Duration exchange(EffectRun& run, const std::stop_token& stop);
  void finish(RunPtr run, const std::stop_token& stop);
  void park(RunPtr run, Duration wait);
  Duration reserve();
  void count(const EffectRun& run, const std::string& method, const Result<net::Response>& answer, Duration spent);
  double unit();

  std::stop_source stop_{};
  net::Transport& transport_;
  framework::ProgramFactory programs_;
  EventQueue& results_;
  const ExecutorOptions options_;

  mutable std::mutex mutex_{};
  std::condition_variable_any changed_{};
  // All below guarded by mutex_.
  WriteQueue writes_{};
  std::multimap<MonoTime, RunPtr> parked_{};  // by the time of their next request
  std::deque<framework::Effect> events_{};
  bool event_under_way_ = false;
  TokenBucket bucket_;
  std::map<std::tuple<std::string, std::string, std::string>, RequestCount> requests_{};
  std::uint64_t repeated_ = 0;
  std::uint64_t events_dropped_ = 0;
  std::mt19937_64 random_{std::random_device{}()};

  std::vector<std::jthread> threads_{};
};

}  // namespace muster::client
