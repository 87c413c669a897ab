#include "client/known_objects.h"

#include <utility>

namespace muster::client {

void KnownObjects::begin_list() {
  unconfirmed_.merge(current_);
  current_.clear();
}

std::vector<ObjectEvent> KnownObjects::end_list() {
  std::vector<ObjectEvent> news;
  news.reserve(unconfirmed_.size());
  for (const ObjectEvent& gone : std::exchange(unconfirmed_, {})) {
    news.push_back(as_deleted(gone));
  }
  return news;
}

KnownObjects::Set::node_type KnownObjects::extract(const ObjectKey& key) {
  for (Set* set : {&current_, &unconfirmed_}) {
    const auto found = set->find(key);
    if (found != set->end()) {
      return set->extract(found);
    }
  }
  return {};
}

std::vector<ObjectEvent> KnownObjects::observe(const ObjectEvent& upserted) {
  const api::ObjectMeta& meta = meta_of(upserted);
  Set::node_type known = extract(meta.key());
  std::vector<ObjectEvent> news;
  if (!known.empty()) {
    const api::ObjectMeta& before = meta_of(known.value());
    const bool same_object = before.uid == meta.uid;
    if (same_object &&
        (before.resource_version == meta.resource_version || (facts_only_ && same_facts(known.value(), upserted)))) {
      current_.insert(std::move(known));
      return news;
    }
    if (!same_object) {
      news.push_back(as_deleted(known.value()));
    }
  }
  current_.insert(upserted);
  news.push_back(upserted);
  return news;
}

void KnownObjects::keep(const ObjectKey& key) {
  Set::node_type known = extract(key);
  if (!known.empty()) {
    current_.insert(std::move(known));
  }
}

std::vector<ObjectEvent> KnownObjects::forget(const ObjectKey& key, const ObjectEvent* last) {
  Set::node_type known = extract(key);
  if (known.empty()) {
    return {};
  }
  const bool same_object = last != nullptr && meta_of(*last).uid == meta_of(known.value()).uid;
  return {as_deleted(same_object ? *last : known.value())};
}

}  // namespace muster::client
