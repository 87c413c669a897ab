// What builders of different kinds share (api/testing/builders.h): metadata and the shape of a pod.
#pragma once

#include "api/core/meta.h"
#include "api/core/pod.h"

#include <string>
#include <string_view>
#include <vector>

namespace muster::api::testing {

// `seconds` after the builders' epoch, 2026-01-01T00:00:00Z.
TimePoint at(std::int64_t seconds);
Amount amount_of(const std::string& resource, const std::string& quantity);
Condition a_condition(std::string_view type, ConditionStatus status, std::string_view reason, TimePoint when = at(0),
                      std::string_view message = "");
Toleration a_toleration(std::string_view key, std::string_view op, std::string_view value = "",
                        std::string_view effect = "");

// What every object has: metadata, conversion to the object.
template <class Derived, class Object>
class Builder {
 public:
  const Object& obj() const { return object_; }

  operator Object() const { return object_; }  // NOLINT(google-explicit-constructor)

  Derived& uid(const std::string& value) {
    return with([&](Object& o) { o.meta.uid = Uid(value); });
  }

  Derived& resource_version(const std::string& v) {
    return with([&](Object& o) { o.meta.resource_version = v; });
  }

  Derived& generation(std::int64_t value) {
    return with([&](Object& o) { o.meta.generation = value; });
  }

  Derived& created(TimePoint time) {
    return with([&](Object& o) { o.meta.creation_timestamp = time; });
  }

  Derived& deleted(TimePoint time) {
    return with([&](Object& o) { o.meta.deletion_timestamp = time; });
  }

  Derived& finalizer(const std::string& f) {
    return with([&](Object& o) { o.meta.finalizers.push_back(f); });
  }

  Derived& label(const std::string& key, const std::string& value) {
    return with([&](Object& o) { o.meta.labels[key] = value; });
  }

  Derived& annotation(const std::string& key, const std::string& value) {
    return with([&](Object& o) { o.meta.annotations[key] = value; });
  }

  // A controlling owner.
  Derived& owner(const std::string& api_version, const std::string& kind, const std::string& name,
                 const std::string& uid) {
    return with([&](Object& o) {
      o.meta.owner_references.push_back(
          {.api_version = api_version, .kind = kind, .name = name, .uid = Uid(uid), .controller = true});
    });
  }

 protected:
  Builder(const std::string& ns, const std::string& name) {
    object_.meta.ns = ns;
    object_.meta.name = name;
    object_.meta.uid = Uid(to_string(object_.meta.key()));
  }

  template <class Change>
  Derived& with(Change change) {
    change(object_);
    return static_cast<Derived&>(*this);
  }

  Object object_{};
};

// Adds what a pod template says; `spec()` of the derived builder names the one being built.
template <class Derived, class Object>
class PodShapeBuilder : public Builder<Derived, Object> {
 public:
  Derived& request(const std::string& resource, const std::string& quantity) {
    return on_spec([&](PodSpec& s) { main_container(s).requests[resource] = amount_of(resource, quantity); });
  }

  Derived& limit(const std::string& resource, const std::string& quantity) {
    return on_spec([&](PodSpec& s) { main_container(s).limits[resource] = amount_of(resource, quantity); });
  }

  Derived& scheduler(const std::string& name) {
    return on_spec([&](PodSpec& s) { s.scheduler_name = name; });
  }

  Derived& node_selector(const std::string& key, const std::string& value) {
    return on_spec([&](PodSpec& s) { s.node_selector[key] = value; });
  }

  Derived& affinity_in(const std::string& key, const std::vector<std::string>& values) {
    return on_spec([&](PodSpec& s) {
      if (!s.node_affinity.required) {
        s.node_affinity.required.emplace();
      }
      s.node_affinity.required->push_back({.match_expressions = {{.key = key, .op = "In", .values = values}}});
    });
  }

  Derived& tolerate(const Toleration& t) {
    return on_spec([&](PodSpec& s) { s.tolerations.push_back(t); });
  }

  Derived& host_port(std::int32_t port) {
    return on_spec([&](PodSpec& s) { s.host_ports.push_back({.protocol = "TCP", .port = port}); });
  }

  Derived& gate(const std::string& name) {
    return on_spec([&](PodSpec& s) { s.scheduling_gates.push_back(name); });
  }

  Derived& priority_class(const std::string& name) {
    return on_spec([&](PodSpec& s) { s.priority_class_name = name; });
  }

  Derived& runtime_class(const std::string& name) {
    return on_spec([&](PodSpec& s) { s.runtime_class_name = name; });
  }

  // Any other change of the pod spec.
  template <class Change>
  Derived& on_spec(Change change) {
    Derived& self = static_cast<Derived&>(*this);
    change(self.spec());
    return self;
  }

 protected:
  using Builder<Derived, Object>::Builder;

 private:
  static Container& main_container(PodSpec& spec) {
    if (spec.containers.empty()) {
      spec.containers.push_back({.name = "c"});
    }
    return spec.containers.back();
  }
};

}  // namespace muster::api::testing
