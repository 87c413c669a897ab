// LeaderElection: one thread that takes and renews the Lease (client/lease.h) and tells when leadership begins and
// ends.
//
// Thread: start and stop by the owner; callbacks come from the election's thread and must not call back into it.
// is_leader() from any thread: it turns false by itself at the renewal deadline, also while a request hangs.
#pragma once

#include "client/lease.h"

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

namespace muster::client {

struct LeaderCallbacks {
  std::function<void()> on_leading = [] {};
  // The lease is lost: cease writing at once and end the process. Not called by stop().
  std::function<void()> on_lost = [] {};
};

class LeaderElection {
 public:
  // `transport` must outlive this; `options` have passed check().
  LeaderElection(net::Transport& transport, LeaseOptions options, LeaderCallbacks callbacks);
  ~LeaderElection();  // stops
  LeaderElection(const LeaderElection&) = delete;
  LeaderElection& operator=(const LeaderElection&) = delete;

  void start();
  // Ends the thread and gives the lease back if it is held. Call it after the last write has been made.
  void stop();

  bool is_leader() const { return mono_now().time_since_epoch().count() < valid_until_.load(); }

  // The holder seen last; empty: unknown or none.
  std::string holder() const;

 private:
  void run(const std::stop_token& stop);
  void attempt(const std::stop_token& stop);
  Leadership publish();

  net::Transport& transport_;
  LeaseState state_;  // of the thread; of stop() once that has joined it
  LeaderCallbacks callbacks_;
  std::atomic<Duration::rep> valid_until_ = 0;  // MonoTime; 0: not leading
  mutable std::mutex mutex_{};
  std::string holder_{};  // guarded by mutex_
  std::jthread thread_{};
};

// `<host name>_<random UUID>`: unique to this process.
std::string lease_identity();

}  // namespace muster::client
