#include "client/leader_election.h"

#include <unistd.h>

#include <array>
#include <optional>
#include <random>
#include <utility>

namespace muster::client {

LeaderElection::LeaderElection(net::Transport& transport, LeaseOptions options, LeaderCallbacks callbacks)
    : transport_(transport), state_(std::move(options)), callbacks_(std::move(callbacks)) {}

LeaderElection::~LeaderElection() {
  stop();
}

void LeaderElection::start() {
  thread_ = std::jthread([this](const std::stop_token& stop) noexcept { run(stop); });
}

void LeaderElection::run(const std::stop_token& stop) {
  std::mt19937_64 random(std::random_device{}());
  std::uniform_real_distribution<double> unit(0, 1);
  bool led = false;
  while (!stop.stop_requested()) {
    attempt(stop);
    if (stop.stop_requested()) {
      return;
    }
    const Leadership now = publish();
    if (now == Leadership::kLost) {
      callbacks_.on_lost();
      return;
    }
    if (now == Leadership::kLeading && !std::exchange(led, true)) {
      callbacks_.on_leading();
    }
    sleep_for(state_.pause(mono_now(), unit(random)), stop);
  }
}

void LeaderElection::attempt(const std::stop_token& stop) {
  std::optional<net::Request> request = state_.start(mono_now(), wall_now());
  while (request) {
    const auto answer = transport_.call(*request, stop);
    if (stop.stop_requested()) {
      return;
    }
    request = state_.on_answer(answer, mono_now(), wall_now());
  }
}

// Makes what the state knows visible to other threads.
Leadership LeaderElection::publish() {
  const Leadership leadership = state_.leadership(mono_now());
  valid_until_ = leadership == Leadership::kLeading ? state_.valid_until().time_since_epoch().count() : 0;
  const std::lock_guard lock(mutex_);
  holder_ = state_.holder();
  return leadership;
}

void LeaderElection::stop() {
  if (!thread_.joinable()) {
    return;
  }
  thread_.request_stop();
  thread_.join();
  valid_until_ = 0;
  if (const auto request = state_.release(wall_now())) {
    // Best effort: without it the others wait until the lease has run out.
    static_cast<void>(transport_.call(*request, std::stop_token()));
  }
}

std::string LeaderElection::holder() const {
  const std::lock_guard lock(mutex_);
  return holder_;
}

std::string lease_identity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  std::random_device random;
  constexpr char kHex[] = "0123456789abcdef";
  std::string uuid = "xxxxxxxx-xxxx-4xxx-yxxx-xxxxxxxxxxxx";
  for (char& c : uuid) {
    if (c == 'x') {
      c = kHex[random() % 16];
    } else if (c == 'y') {
      c = kHex[8 + random() % 4];
    }
  }
  return std::string(host.data()) + "_" + uuid;
}

}  // namespace muster::client
