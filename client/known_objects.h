// What the core has been told of one kind. Turns observations (list items, watch events) into the events that are news,
// and a new list into the difference. Pure; owned by the kind's watch thread. Holds the decoded objects together with
// the model (shared, immutable), so it costs one set node an object.
#pragma once

#include "base/ids.h"
#include "client/kinds.h"

#include <cstddef>
#include <set>
#include <string>
#include <vector>

namespace muster::client {

class KnownObjects {
 public:
  explicit KnownObjects(bool facts_only) : facts_only_(facts_only) {}

  // From now until end_list() observations are items of a list. May be called again when a list is given up.
  void begin_list();
  // What is known but was not in the list is gone.
  std::vector<ObjectEvent> end_list();

  // An object exists in this state. A new uid under a known name is a deletion and a creation.
  std::vector<ObjectEvent> observe(const ObjectEvent& upserted);
  // An object exists, but its state can't be told: what is known of it stays.
  void keep(const ObjectKey& key);
  // An object is gone, or does not concern us any more. `last` is its last state if it is at hand.
  std::vector<ObjectEvent> forget(const ObjectKey& key, const ObjectEvent* last = nullptr);

  std::size_t size() const { return current_.size() + unconfirmed_.size(); }

 private:
  struct ByKey {
    using is_transparent = void;

    static const api::ObjectMeta& of(const ObjectEvent& event) { return meta_of(event); }

    static const ObjectKey& of(const ObjectKey& key) { return key; }

    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      return less(of(a), of(b));
    }

    template <class A, class B>
    static bool less(const A& a, const B& b) {
      const int order = a.ns.compare(b.ns);
      return order != 0 ? order < 0 : a.name < b.name;
    }
  };

  using Set = std::set<ObjectEvent, ByKey>;

  // Takes the entry out of whichever set holds it; empty if none does.
  Set::node_type extract(const ObjectKey& key);

  bool facts_only_;
  Set current_{};
  Set unconfirmed_{};  // during a list: known before, not seen in it yet
};

}  // namespace muster::client
