#include "client/executor.h"

#include <optional>
#include <utility>

namespace muster::client {
namespace {

constexpr Duration kRecheckLease{500};

bool is_event(const framework::Effect& effect) {
  return std::holds_alternative<framework::EmitEvent>(effect.body);
}

net::Request to_request(const framework::ApiRequest& request, Duration deadline) {
  net::Request http{.method = request.method,
                    .target = request.path,
                    .headers = {{"Accept", "application/json"}},
                    .body = request.body,
                    .deadline = deadline,
                    .replay_safe = request.replay_safe};
  if (!request.content_type.empty()) {
    http.headers.emplace_back("Content-Type", request.content_type);
  }
  return http;
}

}  // namespace

Executor::Executor(net::Transport& transport, framework::ProgramFactory programs, EventQueue& results,
                   ExecutorOptions options)
    : transport_(transport),
      programs_(std::move(programs)),
      results_(results),
      options_(std::move(options)),
      bucket_(options_.rate) {
  for (int i = 0; i < options_.threads; ++i) {
    threads_.emplace_back([this]() noexcept { work(stop_.get_token()); });
  }
  threads_.emplace_back([this]() noexcept { work_on_events(stop_.get_token()); });
}

Executor::~Executor() {
  stop();
}

void Executor::submit(framework::Effects effects) {
  const std::lock_guard lock(mutex_);
  for (framework::Effect& effect : effects) {
    if (!is_event(effect)) {
      writes_.add(std::move(effect));
    } else if (events_.size() < options_.max_events) {
      events_.push_back(std::move(effect));
    } else {
      events_dropped_ += 1;
    }
  }
  changed_.notify_all();
}

bool Executor::drain(Duration limit) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, limit, [this] { return writes_.empty() && events_.empty() && !event_under_way_; });
}

void Executor::stop() {
  cease();
  threads_.clear();
}

void Executor::work(const std::stop_token& stop) {
  while (RunPtr run = next_run(stop)) {
    drive(std::move(run), stop);
  }
}

// The next effect to work on: a parked one whose time has come, else a new one. Null: stopped.
Executor::RunPtr Executor::next_run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    const MonoTime due = parked_.empty() ? MonoTime::max() : parked_.begin()->first;
    if (due <= mono_now()) {
      return std::move(parked_.extract(parked_.begin()).mapped());
    }
    if (std::optional<PendingWrite> write = writes_.take()) {
      lock.unlock();
      return begin(*std::move(write), options_.retry);
    }
    const auto has_news = [this, due] { return writes_.ready() || (!parked_.empty() && parked_.begin()->first < due); };
    if (due == MonoTime::max()) {
      changed_.wait(lock, stop, has_news);
    } else {
      changed_.wait_until(lock, stop, due, has_news);
    }
  }
  return nullptr;
}

Executor::RunPtr Executor::begin(PendingWrite write, const RetryPolicy& policy) const {
  auto program = programs_(write.effect, wall_now());
  return std::make_unique<EffectRun>(std::move(write), std::move(program), policy, mono_now());
}

// Sends the run's requests until it ends, has to wait, or everything is stopped.
void Executor::drive(RunPtr run, const std::stop_token& stop) {
  while (run->request() != nullptr) {
    if (run->request()->method != "GET" && !options_.may_write()) {
      park(std::move(run), kRecheckLease);
      return;
    }
    if (!sleep_for(reserve(), stop)) {
      return;
    }
    const Duration wait = exchange(*run, stop);
    if (stop.stop_requested()) {
      return;
    }
    if (wait > Duration::zero()) {
      park(std::move(run), wait);
      return;
    }
  }
  finish(std::move(run), stop);
}

Duration Executor::exchange(EffectRun& run, const std::stop_token& stop) {
  const std::string method = run.request()->method;
  const MonoTime begun = mono_now();
  const auto answer = transport_.call(to_request(*run.request(), options_.call_deadline), stop);
  if (stop.stop_requested()) {
    return Duration::zero();
  }
  const MonoTime now = mono_now();
  count(run, method, answer, now - begun);
  return run.on_answer(answer, now, unit());
}

// The result is in the queue before the object's next write begins: results of one object keep their order.
void Executor::finish(RunPtr run, const std::stop_token& stop) {
  submit(run->announcements());
  for (framework::Event& event : run->reports()) {
    if (!results_.push(std::move(event), stop)) {
      return;
    }
  }
  const std::lock_guard lock(mutex_);
  writes_.finish(run->target());
  changed_.notify_all();
}

void Executor::park(RunPtr run, Duration wait) {
  const std::lock_guard lock(mutex_);
  repeated_ += 1;
  parked_.emplace(mono_now() + wait, std::move(run));
  changed_.notify_all();
}

void Executor::work_on_events(const std::stop_token& stop) {
  TokenBucket bucket(options_.event_rate);
  const RetryPolicy policy{.deadline = std::chrono::seconds(10), .settle_doubt = false};
  while (true) {
    std::unique_lock lock(mutex_);
    if (!changed_.wait(lock, stop, [this] { return !events_.empty(); })) {
      return;
    }
    PendingWrite write{.effect = std::move(events_.front())};
    write.target = target(write.effect);
    events_.pop_front();
    event_under_way_ = true;
    lock.unlock();
    const RunPtr run = begin(std::move(write), policy);
    Duration wait = bucket.reserve(mono_now());
    while (run->request() != nullptr && sleep_for(wait, stop)) {
      wait = options_.may_write() ? exchange(*run, stop) : kRecheckLease;
    }
    lock.lock();
    event_under_way_ = false;
    changed_.notify_all();
  }
}

Duration Executor::reserve() {
  const std::lock_guard lock(mutex_);
  return bucket_.reserve(mono_now());
}

double Executor::unit() {
  const std::lock_guard lock(mutex_);
  return std::uniform_real_distribution<double>(0, 1)(random_);
}

void Executor::count(const EffectRun& run, const std::string& method, const Result<net::Response>& answer,
                     Duration spent) {
  const std::string kind(framework::to_string(run.target().kind));
  const std::string code = answer.ok() ? std::to_string(answer->status) : std::string(to_string(answer.error().code));
  const std::lock_guard lock(mutex_);
  RequestCount& entry = requests_[{method, kind, code}];
  entry.method = method;
  entry.kind = kind;
  entry.code = code;
  entry.count += 1;
  entry.spent += spent;
}

ExecutorStats Executor::stats() const {
  const std::lock_guard lock(mutex_);
  ExecutorStats stats{.waiting = writes_.waiting(),
                      .under_way = writes_.busy(),
                      .replaced = writes_.replaced(),
                      .repeated = repeated_,
                      .events_dropped = events_dropped_};
  for (const auto& entry : requests_) {
    stats.requests.push_back(entry.second);
  }
  return stats;
}

}  // namespace muster::client
