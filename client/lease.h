// Leader election over a coordination.k8s.io/v1 Lease as a state machine without I/O: which request comes next, what
// its answer means, and until when leadership may be believed. spec/placement.md §6.7.
//
// What it guarantees: whether another holder's lease has run out is judged by how long its record has not changed on
// our own monotonic clock, never by the times written in it; every write names the resourceVersion it replaces; our own
// lease is believed for renew_deadline from the moment at which the last successful renewal was *sent*; once lost, it
// is never taken again (the process ends and starts anew). Not thread-safe; owned by client/leader_election.h's thread.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "client/clock.h"
#include "net/transport.h"

#include <memory>
#include <optional>
#include <string>

namespace muster::client {

struct LeaseOptions {
  std::string ns{};        // required
  std::string name{};      // required
  std::string identity{};  // required; unique to this process: `<host>_<uuid>`
  Duration lease_duration{15'000};
  Duration renew_deadline{10'000};
  Duration retry_period{2'000};
};

inline constexpr double kAcquireJitter = 1.2;

// kInvalid unless everything required is given and lease_duration > renew_deadline > retry_period * kAcquireJitter.
Status check(const LeaseOptions& options);

enum class Leadership { kWaiting, kLeading, kLost };

class LeaseState {
 public:
  explicit LeaseState(LeaseOptions options);
  ~LeaseState();

  // Begins an attempt to take or renew the lease.
  net::Request start(MonoTime now, TimePoint wall);
  // Takes the answer; the attempt's next request, or nothing when the attempt is over.
  std::optional<net::Request> on_answer(const Result<net::Response>& answer, MonoTime now, TimePoint wall);
  // How long to wait after an attempt that ended at `now`; `unit` is random in [0, 1).
  Duration pause(MonoTime now, double unit) const;

  // Notices also that the renewal deadline has passed.
  Leadership leadership(MonoTime now);

  // Until when leadership may be believed if nothing else is heard. Meaningful while leading.
  MonoTime valid_until() const { return last_renewal_ + options_.renew_deadline; }

  // Gives the lease back at once, so that another need not wait for its end. Nothing unless we hold it.
  std::optional<net::Request> release(TimePoint wall);

  // The holder seen last; for logs and metrics.
  const std::string& holder() const { return holder_; }

 private:
  enum class Awaiting { kNothing, kRead, kCreate, kUpdate };

  net::Request read(MonoTime now);
  net::Request create(MonoTime now, TimePoint wall);
  net::Request update(MonoTime now, TimePoint wall);
  net::Request request(std::string method, std::string path, std::string body, MonoTime now) const;
  std::optional<net::Request> on_read(const net::Response& response, MonoTime now, TimePoint wall);
  std::optional<net::Request> on_written(const net::Response& response, MonoTime now);
  void observe(api::Json lease, MonoTime now);
  bool held_by_other(MonoTime now) const;

  LeaseOptions options_;
  std::unique_ptr<api::Json> observed_;  // the Lease as last seen; null: none
  MonoTime observed_at_{};               // when its spec was last seen to change
  std::string holder_{};
  Duration holder_duration_{};
  Awaiting awaiting_ = Awaiting::kNothing;
  bool has_read_ = false;    // in this attempt: a second failure ends it
  MonoTime sent_at_{};       // of the write that is awaited
  MonoTime last_renewal_{};  // when the last successful write was sent
  Leadership leadership_ = Leadership::kWaiting;
};

}  // namespace muster::client
