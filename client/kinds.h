// What Muster watches: one description a kind, from collection path to decoded event. Pure values and functions.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "framework/events.h"

#include <optional>
#include <string>
#include <vector>

namespace muster::client {

using framework::ObjectEvent;

struct WatchedKind {
  std::string name{};  // "Workload"
  std::string path{};  // of the collection, over all namespaces
  // The object as an Upserted event. Nothing: an object that does not concern Muster, treated as if it did not exist.
  Result<std::optional<ObjectEvent>> (*decode)(const api::Json& object) = nullptr;
  // A new resourceVersion alone is no news (kinds whose status is touched all the time, and on whose resourceVersion
  // no write depends).
  bool facts_only = false;
};

// Every kind of framework::ObjectEvent.
std::vector<WatchedKind> watched_kinds();

const api::ObjectMeta& meta_of(const ObjectEvent& event);
ObjectEvent as_deleted(const ObjectEvent& event);
// The same kind and value, resourceVersion aside.
bool same_facts(const ObjectEvent& a, const ObjectEvent& b);

}  // namespace muster::client
