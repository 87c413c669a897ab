// Admission fair sharing (spec/admission.md §6.1): what the LocalQueues of a usage-based ClusterQueue have consumed, old
// consumption counting half after every half-life, and the order that follows from it. Owner: Model; fed by the core,
// read by the queue, preemption and the status of LocalQueues. Decision thread only; pure, no undo: these are facts.
//
// Consumption is a function of what ran when, not of when somebody looked: it is linear in its causes, so what becomes
// known late is added with the weight its own time gives it. What is published covers only seconds of which all is
// known and stored. A Workload admitted at or after `last_update` is therefore not in it: after a restart the Workloads
// tell the rest, nothing twice.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/config/configuration.h"
#include "api/kueue/queues.h"
#include "base/nano.h"
#include "base/time.h"

namespace muster::framework {

using NanoAmounts = std::map<std::string, Nano>;  // by resource; never negative

struct UsageRules {
  Duration half_life{};  // 0: nothing is remembered
  Duration sampling = std::chrono::minutes(5);
  std::map<std::string, Amount> weights_nano{};  // by resource; 1 where not listed
};

UsageRules usage_rules(const api::AdmissionFairSharingConfig& config);

inline constexpr Amount kWhole = 1'000'000'000'000'000;
// alpha(dt) = 1 - 0.5^(dt / half_life), in parts of kWhole: the one place where this is a real number. 0 when
// half_life is 0 or dt is not positive.
Amount forgotten(Duration dt, Duration half_life);

// A LocalQueue's place in its ClusterQueue: less goes first.
inline constexpr Wide kLastPlace = kMaxWide;  // weight 0

// What of a Workload counts.
struct UsageFacts {
  Uid uid{};
  ObjectKey local_queue{};
  bool reserved = false;                   // assumed or stored
  bool may_return = false;                 // active and unfinished: a penalty outlives the reservation
  NanoAmounts requests{};                  // of the reservation
  std::optional<TimePoint> decided_at{};   // admitted, as is assumed and not stored yet
  std::optional<TimePoint> admitted_at{};  // as is stored
  NanoAmounts admitted{};                  // what it uses since
  std::optional<TimePoint> finished_at{};  // as is stored
};

class LocalQueueUsage {
 public:
  // Before anything else; without rules nothing is counted.
  void configure(UsageRules rules) { rules_ = std::move(rules); }
  bool enabled() const { return rules_.has_value(); }
  Duration sampling() const { return rules_ ? rules_->sampling : Duration{}; }

  // The LocalQueue's history begins, with what its status says; true when it is new (or recreated). Known ones take
  // a changed weight.
  bool open(TimePoint now, const api::LocalQueue& queue);
  // Nothing may point to its place any more.
  void close(const ObjectKey& local_queue);
  bool is_open(const ObjectKey& local_queue) const { return accounts_.count(local_queue) > 0; }

  // Level-triggered: the same facts twice change nothing. None: the Workload is gone, or counts nowhere.
  void note(TimePoint now, const ObjectKey& workload, const std::optional<UsageFacts>& facts);
  // It had come and gone when its LocalQueue's history was taken over: what that did not know of it is added.
  void note_past(TimePoint now, const UsageFacts& facts);
  // The write of its reservation failed.
  void drop_penalty(TimePoint now, const ObjectKey& workload);

  // Brings every place up to date; says whose has changed since the last time. Places change here only.
  std::set<ObjectKey> refresh(TimePoint now);
  // Null where no history is kept. Its address lasts until close.
  const Wide* place(const ObjectKey& local_queue) const;
  // What the status should say; none where no history is kept.
  std::optional<api::AdmissionFairSharingStatus> published(const ObjectKey& local_queue, TimePoint now) const;
  // Will `published` say something else in a while, although nothing happens?
  bool is_moving(const ObjectKey& local_queue, TimePoint now) const;
  NanoAmounts pending(const ObjectKey& local_queue) const;  // penalties not settled yet

 private:
  struct Change {  // of one moment
    NanoAmounts penalty{};
    NanoAmounts usage{};  // may be negative
  };

  struct Balance {
    TimePoint since{};  // `consumed` is of this moment; whole seconds
    NanoAmounts consumed{};
    NanoAmounts usage{};                         // admitted, from `since` on
    std::multimap<TimePoint, Change> changes{};  // not in the above yet
  };

  struct Record {  // a Workload that holds a reservation, or held one without being admitted and will come back
    Uid uid{};
    NanoAmounts penalty{};  // pending
    bool settled = false;
    std::optional<TimePoint> decided_at{};
    std::optional<TimePoint> admitted_at{};
    NanoAmounts admitted{};
  };

  struct Account {  // of a LocalQueue
    Uid uid{};
    Amount weight_nano = kNanoPerUnit;
    TimePoint taken_over_at{};  // what its status said was of this moment
    Balance balance{};
    NanoAmounts pending{};
    std::multiset<TimePoint> decided{};  // of the records
    std::map<ObjectKey, Record> records{};
    Wide place = 0;
  };

  Account* account_of(const ObjectKey& local_queue);
  const Account* account_of(const ObjectKey& local_queue) const;
  void reset(Account& account, TimePoint now, const api::LocalQueue& queue);
  void note_reserved(TimePoint now, Account& account, Record& record, const UsageFacts& facts);
  void note_unreserved(TimePoint now, const ObjectKey& workload, const UsageFacts& facts);
  // Its record goes; what it used ends at this time.
  void leave(TimePoint now, const ObjectKey& workload, TimePoint when);
  static void set_pending(Account& account, Record& record, NanoAmounts penalty);
  static void set_decided(Account& account, Record& record, std::optional<TimePoint> when);
  void set_admitted(Account& account, Record& record, TimePoint when, Change change, NanoAmounts amounts) const;
  NanoAmounts penalty_of(const NanoAmounts& requests) const;
  // All seconds before this one are known and stored.
  static TimePoint known_until(const Account& account, TimePoint now);
  Nano grown(Nano consumed, Nano usage, Duration dt) const;
  void apply(Balance& balance, TimePoint when, const Change& change) const;
  // Takes in the changes before `end`.
  void fold(Balance& balance, TimePoint end) const;
  NanoAmounts consumed_at(Balance balance, TimePoint end, TimePoint when) const;
  Wide place_of(const Account& account, TimePoint now) const;

  std::optional<UsageRules> rules_{};
  std::map<ObjectKey, Account> accounts_{};
  std::map<ObjectKey, ObjectKey> home_{};  // Workload -> the LocalQueue that has its record
  std::set<ObjectKey> dirty_{};            // whose place may have changed otherwise than by time
  TimePoint refreshed_at_{};
};

}  // namespace muster::framework
