#include "framework/model/local_queue_usage.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace muster::framework {

namespace {

// Adds to the amounts, each by its resource.
void add(NanoAmounts& amounts, const NanoAmounts& more, int sign = 1) {
  for (const auto& [resource, amount] : more) {
    Nano& sum = amounts[resource];
    sum = clamp_nano(sum + sign * amount);
  }
}

NanoAmounts negated(const NanoAmounts& amounts) {
  NanoAmounts negative;
  add(negative, amounts, -1);
  return negative;
}

// Conditions and statuses know whole seconds only.
TimePoint second_of(TimePoint time) { return to_seconds(time); }

Amount in_nano(double number) {
  const double nano = std::round(number * static_cast<double>(kNanoPerUnit));
  return !(nano > 0) ? 0 : nano >= 9.2e18 ? kUnlimited : static_cast<Amount>(nano);
}

Amount weight_of(const api::LocalQueue& queue) {
  return std::max<Amount>(0, queue.fair_weight_nano.value_or(kNanoPerUnit));
}

}  // namespace

UsageRules usage_rules(const api::AdmissionFairSharingConfig& config) {
  UsageRules rules{.half_life = config.usage_half_life_time, .sampling = config.usage_sampling_interval};
  for (const auto& [resource, weight] : config.resource_weights) {
    rules.weights_nano.emplace(resource, in_nano(weight));
  }
  return rules;
}

Amount forgotten(Duration dt, Duration half_life) {
  if (half_life <= Duration::zero() || dt <= Duration::zero()) {
    return 0;
  }
  const double halvings = static_cast<double>(dt.count()) / static_cast<double>(half_life.count());
  return kWhole - std::llround(std::exp2(-halvings) * static_cast<double>(kWhole));
}

// ---- accounts ----

LocalQueueUsage::Account* LocalQueueUsage::account_of(const ObjectKey& local_queue) {
  const auto it = accounts_.find(local_queue);
  return it == accounts_.end() ? nullptr : &it->second;
}

const LocalQueueUsage::Account* LocalQueueUsage::account_of(const ObjectKey& local_queue) const {
  const auto it = accounts_.find(local_queue);
  return it == accounts_.end() ? nullptr : &it->second;
}

bool LocalQueueUsage::open(TimePoint now, const api::LocalQueue& queue) {
  const ObjectKey key = queue.meta.key();
  const auto [it, is_new] = accounts_.try_emplace(key);
  Account& account = it->second;
  dirty_.insert(key);
  account.weight_nano = weight_of(queue);
  if (!is_new && account.uid == queue.meta.uid) {
    return false;
  }
  reset(account, now, queue);
  return true;
}

void LocalQueueUsage::reset(Account& account, TimePoint now, const api::LocalQueue& queue) {
  for (const auto& [workload, record] : account.records) {
    home_.erase(workload);
  }
  Account fresh{.uid = queue.meta.uid, .weight_nano = account.weight_nano, .place = account.place};
  fresh.taken_over_at = second_of(now);
  if (const auto& history = queue.status.admission_fair_sharing) {
    fresh.taken_over_at = std::min(fresh.taken_over_at, second_of(history->last_update));
    for (const auto& [resource, amount] : history->consumed_resources) {
      const bool remembers = rules_->half_life > Duration::zero();
      fresh.balance.consumed[resource] = remembers ? std::max<Nano>(0, amount) : 0;
    }
  }
  fresh.balance.since = fresh.taken_over_at;
  account = std::move(fresh);
}

void LocalQueueUsage::close(const ObjectKey& local_queue) {
  if (const Account* account = account_of(local_queue)) {
    for (const auto& [workload, record] : account->records) {
      home_.erase(workload);
    }
    accounts_.erase(local_queue);
    dirty_.erase(local_queue);
  }
}

// ---- Workloads ----

void LocalQueueUsage::note(TimePoint now, const ObjectKey& workload, const std::optional<UsageFacts>& facts) {
  bool moved = false;
  if (const auto home = home_.find(workload); home != home_.end()) {
    const bool same = facts && account_of(home->second)->records.at(workload).uid == facts->uid;
    moved = same && facts->local_queue != home->second;
    if (!same || moved) {
      leave(now, workload, second_of(now));
    }
  }
  Account* account = facts ? account_of(facts->local_queue) : nullptr;
  if (account == nullptr) {
    return;
  }
  if (!facts->reserved && !facts->admitted_at) {
    note_unreserved(now, workload, *facts);
    return;
  }
  home_.emplace(workload, facts->local_queue);
  dirty_.insert(facts->local_queue);
  Record& record = account->records[workload];
  record.uid = facts->uid;
  record.settled = record.settled || (moved && facts->admitted_at);  // it was, where it came from
  note_reserved(now, *account, record, *facts);
  fold(account->balance, known_until(*account, now));
}

void LocalQueueUsage::note_unreserved(TimePoint now, const ObjectKey& workload, const UsageFacts& facts) {
  if (home_.count(workload) == 0) {
    return;
  }
  Account& account = *account_of(facts.local_queue);
  Record& record = account.records.at(workload);
  dirty_.insert(facts.local_queue);
  if (record.settled || !facts.may_return) {
    leave(now, workload, facts.finished_at.value_or(second_of(now)));
  } else {
    set_decided(account, record, std::nullopt);
  }
}

void LocalQueueUsage::note_reserved(TimePoint now, Account& account, Record& record, const UsageFacts& facts) {
  set_decided(account, record, facts.decided_at);
  if (!facts.admitted_at) {
    if (!record.settled) {
      set_pending(account, record, penalty_of(facts.requests));
    } else if (record.admitted_at) {  // a check took it back; the reservation stays
      set_admitted(account, record, second_of(now), {.usage = negated(record.admitted)}, {});
      record.admitted_at.reset();
    }
    return;
  }
  Change change{.usage = facts.admitted};
  TimePoint when = second_of(now);
  if (record.admitted_at) {
    add(change.usage, record.admitted, -1);
  } else if (!record.settled) {
    when = std::min(when, *facts.admitted_at);
    if (when >= account.taken_over_at) {
      change.penalty = penalty_of(facts.requests);
    }
    when = std::max(when, account.taken_over_at);
  }
  set_pending(account, record, {});
  record.settled = true;
  record.admitted_at = facts.admitted_at;
  set_admitted(account, record, when, std::move(change), facts.admitted);
}

void LocalQueueUsage::note_past(TimePoint now, const UsageFacts& facts) {
  Account* account = account_of(facts.local_queue);
  if (account == nullptr || !facts.admitted_at || !facts.finished_at || *facts.finished_at < account->taken_over_at) {
    return;
  }
  if (rules_->half_life <= Duration::zero()) {
    return;
  }
  const bool unknown = *facts.admitted_at >= account->taken_over_at;
  const TimePoint begin = std::max(*facts.admitted_at, account->taken_over_at);
  account->balance.changes.emplace(
      begin, Change{.penalty = unknown ? penalty_of(facts.requests) : NanoAmounts{}, .usage = facts.admitted});
  account->balance.changes.emplace(std::max(begin, *facts.finished_at), Change{.usage = negated(facts.admitted)});
  fold(account->balance, known_until(*account, now));
  dirty_.insert(facts.local_queue);
}

void LocalQueueUsage::drop_penalty(TimePoint now, const ObjectKey& workload) {
  const auto home = home_.find(workload);
  if (home != home_.end() && !account_of(home->second)->records.at(workload).settled) {
    leave(now, workload, second_of(now));
  }
}

void LocalQueueUsage::leave(TimePoint now, const ObjectKey& workload, TimePoint when) {
  const auto home = home_.find(workload);
  Account& account = *account_of(home->second);
  Record& record = account.records.at(workload);
  set_pending(account, record, {});
  set_decided(account, record, std::nullopt);
  if (record.admitted_at) {
    const TimePoint begin = std::max(*record.admitted_at, account.taken_over_at);
    set_admitted(account, record, std::max(begin, std::min(when, second_of(now))), {.usage = negated(record.admitted)},
                 {});
  }
  dirty_.insert(home->second);
  account.records.erase(workload);
  home_.erase(home);
  fold(account.balance, known_until(account, now));
}

void LocalQueueUsage::set_pending(Account& account, Record& record, NanoAmounts penalty) {
  add(account.pending, record.penalty, -1);
  record.penalty = std::move(penalty);
  add(account.pending, record.penalty);
}

void LocalQueueUsage::set_decided(Account& account, Record& record, std::optional<TimePoint> when) {
  if (record.decided_at) {
    account.decided.erase(account.decided.find(*record.decided_at));
  }
  record.decided_at = when;
  if (when) {
    account.decided.insert(*when);
  }
}

void LocalQueueUsage::set_admitted(Account& account, Record& record, TimePoint when, Change change,
                                   NanoAmounts amounts) const {
  record.admitted = std::move(amounts);
  if (rules_->half_life <= Duration::zero()) {
    return;  // nothing is remembered
  }
  const auto is_something = [](const auto& entry) { return entry.second != 0; };
  if (std::any_of(change.usage.begin(), change.usage.end(), is_something) || !change.penalty.empty()) {
    account.balance.changes.emplace(when, std::move(change));
  }
}

NanoAmounts LocalQueueUsage::penalty_of(const NanoAmounts& requests) const {
  const Amount share = forgotten(rules_->sampling, rules_->half_life);
  NanoAmounts penalty;
  for (const auto& [resource, amount] : requests) {
    if (const Nano part = scale_down(amount, share, kWhole); part > 0) {
      penalty.emplace(resource, part);
    }
  }
  return penalty;
}

// ---- arithmetic ----

TimePoint LocalQueueUsage::known_until(const Account& account, TimePoint now) {
  const TimePoint until =
      account.decided.empty() ? second_of(now) : std::min(second_of(now), *account.decided.begin());
  return std::max(until, account.balance.since);
}

Nano LocalQueueUsage::grown(Nano consumed, Nano usage, Duration dt) const {
  return clamp_nano(consumed + scale_down(usage - consumed, forgotten(dt, rules_->half_life), kWhole));
}

void LocalQueueUsage::apply(Balance& balance, TimePoint when, const Change& change) const {
  if (when > balance.since) {
    balance.consumed = consumed_at(balance, when, when);
    balance.since = when;
  }
  const Duration late = balance.since - when;
  for (const auto& [resource, penalty] : change.penalty) {
    Nano& consumed = balance.consumed[resource];
    consumed = clamp_nano(consumed + grown(penalty, 0, late));
  }
  for (const auto& [resource, more] : change.usage) {
    Nano& consumed = balance.consumed[resource];
    consumed = std::max<Nano>(0, clamp_nano(consumed + grown(0, more, late)));
    Nano& usage = balance.usage[resource];
    usage = clamp_nano(usage + more);
    if (usage == 0) {
      balance.usage.erase(resource);
    }
  }
}

void LocalQueueUsage::fold(Balance& balance, TimePoint end) const {
  while (!balance.changes.empty() && balance.changes.begin()->first < end) {
    const auto first = balance.changes.extract(balance.changes.begin());
    apply(balance, first.key(), first.mapped());
  }
}

// With the changes before `end`, as of `when`.
NanoAmounts LocalQueueUsage::consumed_at(Balance balance, TimePoint end, TimePoint when) const {
  fold(balance, end);
  NanoAmounts consumed = std::move(balance.consumed);
  for (const auto& [resource, usage] : balance.usage) {
    consumed.emplace(resource, 0);
  }
  for (auto& [resource, amount] : consumed) {
    const auto usage = balance.usage.find(resource);
    amount = grown(amount, usage == balance.usage.end() ? 0 : usage->second, when - balance.since);
  }
  return consumed;
}

Wide LocalQueueUsage::place_of(const Account& account, TimePoint now) const {
  if (account.weight_nano <= 0) {
    return kLastPlace;
  }
  const TimePoint second = second_of(now);
  NanoAmounts amounts = consumed_at(account.balance, second + Duration(1), second);
  add(amounts, account.pending);
  Wide sum = 0;
  for (const auto& [resource, amount] : amounts) {
    const auto weight = rules_->weights_nano.find(resource);
    sum = wide_add(sum, weight == rules_->weights_nano.end() ? amount
                                                                  : scale_down(amount, weight->second, kNanoPerUnit));
  }
  return std::min(scale_down(sum, kNanoPerUnit, account.weight_nano), kLastPlace - 1);
}

// ---- reading ----

std::set<ObjectKey> LocalQueueUsage::refresh(TimePoint now) {
  std::set<ObjectKey> changed;
  std::set<ObjectKey> batch;
  batch.swap(dirty_);
  if (second_of(now) != refreshed_at_) {
    refreshed_at_ = second_of(now);
    for (const auto& [key, account] : accounts_) {
      batch.insert(key);
    }
  }
  for (const ObjectKey& key : batch) {
    Account* account = account_of(key);
    if (account == nullptr) {
      continue;
    }
    fold(account->balance, known_until(*account, now));
    const Wide place = place_of(*account, now);
    if (std::exchange(account->place, place) != place) {
      changed.insert(key);
    }
  }
  return changed;
}

const Wide* LocalQueueUsage::place(const ObjectKey& local_queue) const {
  const Account* account = account_of(local_queue);
  return account == nullptr ? nullptr : &account->place;
}

std::optional<api::AdmissionFairSharingStatus> LocalQueueUsage::published(const ObjectKey& local_queue,
                                                                          TimePoint now) const {
  const Account* account = account_of(local_queue);
  if (account == nullptr) {
    return std::nullopt;
  }
  const TimePoint until = known_until(*account, now);
  return api::AdmissionFairSharingStatus{.consumed_resources = consumed_at(account->balance, until, until),
                                         .last_update = until};
}

bool LocalQueueUsage::is_moving(const ObjectKey& local_queue, TimePoint now) const {
  const Account* account = account_of(local_queue);
  if (account == nullptr) {
    return false;
  }
  const TimePoint until = known_until(*account, now);
  const TimePoint later = second_of(now) + rules_->sampling;
  return consumed_at(account->balance, until, until) != consumed_at(account->balance, later, later);
}

NanoAmounts LocalQueueUsage::pending(const ObjectKey& local_queue) const {
  const Account* account = account_of(local_queue);
  return account == nullptr ? NanoAmounts{} : account->pending;
}

}  // namespace muster::framework
