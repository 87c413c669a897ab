#include "sim/manager.h"

#include "base/check.h"
#include "controllers/register.h"
#include "controllers/requests/program_factory.h"
#include "plugins/register_all.h"

#include <algorithm>
#include <utility>

namespace muster::sim {

Manager::Manager(const Parts& parts, ManagerOptions options) : parts_(parts), options_(std::move(options)) {
  parts_.server.listen(*this);
}

void Manager::start() {
  MUSTER_CHECK(!running()) << "started twice";
  process_ += 1;
  if (options_.on_start) {
    options_.on_start();
  }
  auto profile =
      framework::make_profile(options_.profile, parts_.registry, plugins::default_plugins(options_.plugins), options_.plugins);
  MUSTER_CHECK(profile.ok()) << to_string(profile.error());
  core_ = std::make_unique<framework::Core>(options_.core, *std::move(profile),
                                            controllers::make_reconcilers(options_.controllers));
  runners_.push_back(std::make_unique<EffectRunner>(
      EffectRunner::Parts{parts_.timeline, parts_.server, parts_.faults, *this},
      controllers::make_program_factory({.label_keys_to_copy = options_.controllers.label_keys_to_copy}),
      options_.keep_events));
  list_everything();
}

void Manager::stop() {
  if (!running()) {
    return;
  }
  process_ += 1;
  runners_.back()->stop();
  core_.reset();
  inbox_.clear();
  wake_at_.reset();
}

// Every kind's list arrives after a delay of its own; what changes meanwhile follows in the order of the kind's watch.
void Manager::list_everything() {
  const TimePoint now = parts_.timeline.now();
  TimePoint synced = now;
  for (const ResourceKind& kind : resource_kinds()) {
    if (kind.upserted == nullptr) {
      continue;
    }
    const TimePoint when = now + parts_.faults.watch_delay();
    watch_until_[&kind] = when;
    synced = std::max(synced, when);
    for (const auto& [key, object] : parts_.server.all(kind)) {
      if (auto event = decoded({.at = now, .kind = &kind, .key = key, .after = object})) {
        deliver(when, *std::move(event));
      }
    }
  }
  deliver(synced, framework::Synced{});
}

void Manager::on_change(const Change& change) {
  if (!running() || change.kind->upserted == nullptr) {
    return;
  }
  auto event = decoded(change);
  if (!event) {
    return;
  }
  TimePoint& until = watch_until_[change.kind];
  until = std::max(until, parts_.timeline.now() + parts_.faults.watch_delay());
  deliver(until, *std::move(event));
}

std::optional<framework::Event> Manager::decoded(const Change& change) {
  auto event = change.after != nullptr ? change.kind->upserted(*change.after) : change.kind->deleted(*change.before);
  if (!event.ok()) {
    undecodable_.push_back(std::string(change.kind->name) + " " + to_string(change.key) + ": " +
                           to_string(event.error()));
    return std::nullopt;
  }
  return framework::Event(*std::move(event));
}

void Manager::on_result(framework::Event event) {
  receive(std::move(event));
}

void Manager::deliver(TimePoint when, framework::Event event) {
  if (when <= parts_.timeline.now()) {
    receive(std::move(event));
    return;
  }
  parts_.timeline.at(when, [this, process = process_, event = std::move(event)]() mutable {
    if (process == process_) {
      receive(std::move(event));
    }
  });
}

void Manager::receive(framework::Event event) {
  inbox_.push_back(std::move(event));
  wake_at(parts_.timeline.now());
}

void Manager::wake_at(TimePoint when) {
  if (wake_at_ && *wake_at_ <= when) {
    return;
  }
  wake_at_ = when;
  parts_.timeline.at(when, [this, process = process_, when] {
    if (process == process_ && wake_at_ == when) {
      wake_at_.reset();
      wake();
    }
  });
}

void Manager::wake() {
  const TimePoint now = parts_.timeline.now();
  const std::vector<framework::Event> events = std::move(inbox_);
  inbox_.clear();
  for (const framework::Event& event : events) {
    if (options_.on_apply) {
      options_.on_apply(now, event);
    }
    core_->apply(now, event);
  }
  framework::Output output = core_->settle(now);
  if (options_.on_settled) {
    options_.on_settled(now, output);
  }
  runners_.back()->submit(std::move(output.effects));
  if (output.more) {
    wake_at(now);
  } else if (output.next_deadline) {
    wake_at(std::max(*output.next_deadline, now + Duration(1)));
  }
}

}  // namespace muster::sim
