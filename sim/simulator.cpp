#include "sim/simulator.h"

#include "controllers/requests/json_edit.h"
#include "sim/admission.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace muster::sim {

using api::Json;
using controllers::find_at;
using controllers::object_at;
using controllers::text_at;

namespace {

// Of a manager that died, until the next one leads; longer than any request of the old one is under way.
constexpr Duration kDownTime = std::chrono::seconds(1);

// A cluster's admin makes namespaces and quota before users send jobs: the order of objects of one moment.
std::size_t rank(const Submission& submission) {
  if (submission.kind == &kind_of("Namespace")) {
    return 0;
  }
  if (submission.kind == &kind_of("Job")) {
    return resource_kinds().size() + 1;
  }
  return static_cast<std::size_t>(submission.kind - resource_kinds().data()) + 1;
}

// A Node that says nothing of its conditions is ready.
void default_node(Json& node) {
  if (find_at(node, {"status", "conditions"}) == nullptr) {
    object_at(node, {"status"})["conditions"] = Json::array({{{"type", "Ready"}, {"status", "True"}}});
  }
}

}  // namespace

Simulator::Simulator(SimulatorOptions options, const framework::Registry& registry)
    : options_(std::move(options)),
      faults_(options_.faults),
      recorder_(server_),
      job_controller_(timeline_, server_, faults_),
      node_model_(timeline_, server_, faults_, options_.nodes),
      manager_({.timeline = timeline_, .server = server_, .faults = faults_, .registry = registry}, options_.manager) {
  timeline_.at(kStartOfTime, [this] { start_manager(); });
  for (const Duration restart : options_.restarts) {
    timeline_.at(kStartOfTime + restart, [this] { manager_.stop(); });
    timeline_.at(kStartOfTime + restart + kDownTime, [this] { start_manager(); });
  }
}

void Simulator::start_manager() {
  if (!manager_.running()) {  // two restarts may overlap
    manager_.start();
  }
}

void Simulator::submit(std::vector<Submission> submissions) {
  std::set<std::string> given;
  std::set<std::string> named;
  for (const Submission& submission : submissions) {
    if (submission.kind == &kind_of("Namespace")) {
      given.insert(text_at(submission.object, {"metadata", "name"}));
    } else if (submission.kind->namespaced) {
      named.insert(text_at(submission.object, {"metadata", "namespace"}));
    }
  }
  for (const std::string& ns : named) {
    if (!given.contains(ns)) {
      submissions.push_back({.kind = &kind_of("Namespace"), .object = {{"metadata", {{"name", ns}}}}});
    }
  }
  std::stable_sort(submissions.begin(), submissions.end(), [](const Submission& a, const Submission& b) {
    return std::pair(a.at, rank(a)) < std::pair(b.at, rank(b));
  });
  to_submit_ += submissions.size();
  for (Submission& submission : submissions) {
    const TimePoint when = kStartOfTime + submission.at;
    timeline_.at(when, [this, submission = std::move(submission)]() mutable { create(std::move(submission)); });
  }
}

void Simulator::create(Submission submission) {
  to_submit_ -= 1;
  const ResourceKind& kind = *submission.kind;
  const ObjectKey key{kind.namespaced ? text_at(submission.object, {"metadata", "namespace"}) : std::string(),
                      text_at(submission.object, {"metadata", "name"})};
  const auto stored = store(kind, key, std::move(submission.object));
  if (!stored.ok()) {
    refusals_.push_back(std::string(kind.name) + " " + to_string(key) + ": " + to_string(stored.error()));
  }
}

Result<Stored> Simulator::store(const ResourceKind& kind, const ObjectKey& key, Json object) {
  if (const Stored known = server_.find(kind, key)) {
    Json changed = *known;  // what nobody mentions stays, finalizers for one
    object_at(changed, {"metadata"}).update(object_at(object, {"metadata"}));
    object.erase("metadata");
    changed.update(object);
    return server_.update(kind, key, std::move(changed), Part::kSpec);
  }
  if (kind.name == "Node") {
    default_node(object);
  }
  MUSTER_TRY(admitted, admit(server_, kind, std::move(object), options_.webhooks));
  return server_.create(kind, std::move(admitted));
}

TimePoint Simulator::end() const {
  constexpr Duration kDrain = std::chrono::minutes(1);
  const TimePoint limit = kStartOfTime + options_.until;
  const std::optional<TimePoint> finished = to_submit_ == 0 ? recorder_.all_finished_at() : std::nullopt;
  return finished ? std::min(limit, *finished + kDrain) : limit;
}

bool Simulator::step() {
  const auto next = timeline_.next();
  if (!next || *next > end()) {
    timeline_.skip_to(next ? end() : now());
    return false;
  }
  server_.set_time(*next);
  timeline_.step();
  return true;
}

}  // namespace muster::sim
