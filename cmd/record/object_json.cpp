#include "cmd/record/object_json.h"

#include "api/codec/decode.h"
#include "api/codec/encode.h"

#include <nlohmann/json.hpp>

#include <array>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace muster::cmd {
namespace {

using api::Json;

// ---- what the wire form loses ----

template <class T, class Visit>
void for_each_pod_spec(T& object, Visit visit) {
  if constexpr (requires { object.pod_sets; }) {
    for (auto& pod_set : object.pod_sets) {
      visit(pod_set.pod_template.spec);
    }
  } else if constexpr (requires { object.pod_template; }) {
    visit(object.pod_template.spec);
  } else if constexpr (requires { object.spec; }) {
    visit(object.spec);
  }
}

template <class Optional, class Visit>
void visit_if_set(Optional& time, Visit visit) {
  if (time) {
    visit(*time);
  }
}

template <class List, class Visit>
void for_each_condition_time(List& conditions, Visit visit) {
  for (auto& condition : conditions) {
    visit(condition.last_transition_time);
  }
}

template <class T, class Visit>
void for_each_status_time(T& status, Visit visit) {
  if constexpr (requires { status.conditions; }) {
    for_each_condition_time(status.conditions, visit);
  }
  if constexpr (requires { status.requeue_state; }) {
    if (status.requeue_state) {
      visit_if_set(status.requeue_state->requeue_at, visit);
    }
    for_each_condition_time(status.admission_checks, visit);
  }
}

template <class T, class Visit>
void for_each_time(T& object, Visit visit) {
  visit(object.meta.creation_timestamp);
  visit_if_set(object.meta.deletion_timestamp, visit);
  for_each_status_time(object, visit);
  if constexpr (requires { object.status; }) {
    for_each_status_time(object.status, visit);
  }
  if constexpr (requires { object.start_time; }) {
    visit_if_set(object.start_time, visit);
  }
  const auto visit_taints = [&visit](auto& taints) {
    for (auto& taint : taints) {
      visit_if_set(taint.time_added, visit);
    }
  };
  if constexpr (requires { object.taints; }) {
    visit_taints(object.taints);
  } else if constexpr (requires { object.node_taints; }) {
    visit_taints(object.node_taints);
  }
}

Json keep(const api::PodSpec& spec) {
  Json kept = {{"containers", spec.containers_hash}, {"initContainers", spec.init_containers_hash}};
  if (!spec.unsupported_placement_fields.empty()) {
    kept["unsupported"] = spec.unsupported_placement_fields;
  }
  if (spec.containers.empty() && !spec.host_ports.empty()) {  // on the wire, ports belong to a container
    kept["hostPorts"] = Json::array();
    for (const api::HostPort& port : spec.host_ports) {
      kept["hostPorts"].push_back(Json::array({port.ip, port.protocol, port.port}));
    }
  }
  return kept;
}

void restore(const Json& kept, api::PodSpec& spec) {
  kept.at("containers").get_to(spec.containers_hash);
  kept.at("initContainers").get_to(spec.init_containers_hash);
  spec.unsupported_placement_fields = kept.value("unsupported", std::vector<std::string>{});
  if (const auto ports = kept.find("hostPorts"); ports != kept.end()) {
    spec.host_ports.clear();
    for (const Json& port : *ports) {
      spec.host_ports.push_back({.ip = port.at(0).get<std::string>(),
                                 .protocol = port.at(1).get<std::string>(),
                                 .port = port.at(2).get<std::int32_t>()});
    }
  }
}

template <class T>
Json kept_of(const T& object) {
  Json kept = Json::object();
  for_each_pod_spec(object, [&kept](const api::PodSpec& spec) { kept["podSpecs"].push_back(keep(spec)); });
  std::vector<std::int64_t> fractions;
  bool some = false;
  for_each_time(object, [&](TimePoint time) {
    fractions.push_back((time - to_seconds(time)).count());
    some = some || fractions.back() != 0;
  });
  if (some) {
    kept["milliseconds"] = std::move(fractions);
  }
  return kept;
}

template <class T>
void restore_kept(const Json& kept, T& object) {
  std::size_t next = 0;
  if (const auto specs = kept.find("podSpecs"); specs != kept.end()) {
    for_each_pod_spec(object, [&](api::PodSpec& spec) { restore(specs->at(next++), spec); });
  }
  if (const auto fractions = kept.find("milliseconds"); fractions != kept.end()) {
    next = 0;
    for_each_time(object, [&](TimePoint& time) { time += Duration(fractions->at(next++).get<std::int64_t>()); });
  }
}

template <class T>
Json exactly(const T& object) {
  Json json = {{"object", api::encode(object)}};
  if (Json kept = kept_of(object); !kept.empty()) {
    json["kept"] = std::move(kept);
  }
  return json;
}

// The recording's own members are checked by nlohmann's exceptions, which end here.
template <class T>
Result<std::shared_ptr<const T>> read_exactly(const Json& json) {
  try {
    MUSTER_TRY(object, api::decode<T>(json.at("object")));
    if (const auto kept = json.find("kept"); kept != json.end()) {
      restore_kept(*kept, object);
    }
    return std::make_shared<const T>(std::move(object));
  } catch (const Json::exception& error) {
    return invalid(error.what());
  }
}

// ---- kinds ----

template <class T>
constexpr std::string_view kName = {};
template <>
constexpr std::string_view kName<api::ResourceFlavor> = "ResourceFlavor";
template <>
constexpr std::string_view kName<api::ClusterQueue> = "ClusterQueue";
template <>
constexpr std::string_view kName<api::Cohort> = "Cohort";
template <>
constexpr std::string_view kName<api::LocalQueue> = "LocalQueue";
template <>
constexpr std::string_view kName<api::WorkloadPriorityClass> = "WorkloadPriorityClass";
template <>
constexpr std::string_view kName<api::Workload> = "Workload";
template <>
constexpr std::string_view kName<api::Job> = "Job";
template <>
constexpr std::string_view kName<api::Pod> = "Pod";
template <>
constexpr std::string_view kName<api::Node> = "Node";
template <>
constexpr std::string_view kName<api::Namespace> = "Namespace";
template <>
constexpr std::string_view kName<api::PriorityClass> = "PriorityClass";
template <>
constexpr std::string_view kName<api::RuntimeClass> = "RuntimeClass";
template <>
constexpr std::string_view kName<api::LimitRange> = "LimitRange";

template <class Change>
struct Parts;

template <class T>
struct Parts<framework::Upserted<T>> {
  using Object = T;
  static constexpr std::string_view kChange = "upserted";
};

template <class T>
struct Parts<framework::Deleted<T>> {
  using Object = T;
  static constexpr std::string_view kChange = "deleted";
};

struct Asked {
  std::string change{};
  std::string kind{};
};

// Tries every alternative of the variant; the first that has the asked names reads the object.
template <std::size_t I = 0>
Result<framework::ObjectEvent> read_as(const Asked& asked, const Json& json) {
  if constexpr (I == std::variant_size_v<framework::ObjectEvent>) {
    return invalid("no such change of no such kind: " + asked.change + " " + asked.kind);
  } else {
    using Change = std::variant_alternative_t<I, framework::ObjectEvent>;
    using Object = typename Parts<Change>::Object;
    static_assert(!kName<Object>.empty(), "name the kind above");
    if (asked.change != Parts<Change>::kChange || asked.kind != kName<Object>) {
      return read_as<I + 1>(asked, json);
    }
    MUSTER_TRY(object, read_exactly<Object>(json));
    return framework::ObjectEvent(Change{std::move(object)});
  }
}

}  // namespace

Json encode_event(const framework::ObjectEvent& event) {
  return std::visit(
      [](const auto& change) {
        using Of = Parts<std::decay_t<decltype(change)>>;
        Json json = exactly(*change.object);
        json["change"] = std::string(Of::kChange);
        json["kind"] = std::string(kName<typename Of::Object>);
        return json;
      },
      event);
}

Result<framework::ObjectEvent> decode_event(const Json& json) {
  const auto text = [&json](const char* key) {
    const auto member = json.find(key);
    return member != json.end() && member->is_string() ? member->get<std::string>() : std::string();
  };
  return read_as({.change = text("change"), .kind = text("kind")}, json);
}

Json encode_exactly(const api::Workload& workload) {
  return exactly(workload);
}

Result<std::shared_ptr<const api::Workload>> decode_workload(const Json& json) {
  return read_exactly<api::Workload>(json);
}

}  // namespace muster::cmd
