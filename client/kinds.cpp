#include "client/kinds.h"

#include "api/codec/decode.h"
#include "api/constants.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace muster::client {
namespace {

using framework::Deleted;
using framework::Upserted;

template <class T>
Result<std::optional<ObjectEvent>> decode_as(const api::Json& object) {
  MUSTER_TRY(value, api::decode<T>(object));
  return std::optional<ObjectEvent>(Upserted<T>{std::make_shared<const T>(std::move(value))});
}

bool is_kueue_key(std::string_view key) {
  constexpr std::string_view kOwnGroup = "muster.x-k8s.io/";
  return (key.starts_with(api::kKueueGroup) && key.substr(api::kKueueGroup.size()).starts_with('/')) ||
         key.starts_with(kOwnGroup);
}

bool has_kueue_key(const api::StringMap& map) {
  return std::any_of(map.begin(), map.end(), [](const auto& entry) { return is_kueue_key(entry.first); });
}

bool concerns_us(const api::Pod& pod) {
  return pod.spec.scheduler_name == api::kSchedulerName || has_kueue_key(pod.meta.labels) ||
         has_kueue_key(pod.meta.annotations) ||
         std::any_of(pod.meta.finalizers.begin(), pod.meta.finalizers.end(), is_kueue_key);
}

// Of other people's pods only what they take from their node matters: a finished one takes nothing, and what is
// written into the metadata and status of a running one is no news.
Result<std::optional<ObjectEvent>> decode_pod(const api::Json& object) {
  MUSTER_TRY(pod, api::decode<api::Pod>(object));
  if (!concerns_us(pod)) {
    if (is_terminal(pod)) {
      return std::optional<ObjectEvent>();
    }
    pod.meta.annotations.clear();
    pod.conditions.clear();
    pod.status_reason.clear();
  }
  return std::optional<ObjectEvent>(Upserted<api::Pod>{std::make_shared<const api::Pod>(std::move(pod))});
}

std::string kueue_path(std::string_view plural) {
  return "/apis/" + std::string(api::kKueueGroup) + "/v1beta2/" + std::string(plural);
}

template <class Event>
struct ObjectOf;

template <template <class> class Change, class T>
struct ObjectOf<Change<T>> {
  using type = T;
};

}  // namespace

std::vector<WatchedKind> watched_kinds() {
  return {
      {"ResourceFlavor", kueue_path("resourceflavors"), decode_as<api::ResourceFlavor>},
      {"ClusterQueue", kueue_path("clusterqueues"), decode_as<api::ClusterQueue>},
      {"Cohort", kueue_path("cohorts"), decode_as<api::Cohort>},
      {"LocalQueue", kueue_path("localqueues"), decode_as<api::LocalQueue>},
      {"WorkloadPriorityClass", kueue_path("workloadpriorityclasses"), decode_as<api::WorkloadPriorityClass>},
      {"Workload", kueue_path("workloads"), decode_as<api::Workload>},
      {"Job", "/apis/batch/v1/jobs", decode_as<api::Job>},
      {"Pod", "/api/v1/pods", decode_pod, true},
      {"Node", "/api/v1/nodes", decode_as<api::Node>, true},
      {"Namespace", "/api/v1/namespaces", decode_as<api::Namespace>, true},
      {"PriorityClass", "/apis/scheduling.k8s.io/v1/priorityclasses", decode_as<api::PriorityClass>},
      {"RuntimeClass", "/apis/node.k8s.io/v1/runtimeclasses", decode_as<api::RuntimeClass>},
      {"LimitRange", "/api/v1/limitranges", decode_as<api::LimitRange>},
  };
}

const api::ObjectMeta& meta_of(const ObjectEvent& event) {
  return std::visit([](const auto& change) -> const api::ObjectMeta& { return change.object->meta; }, event);
}

ObjectEvent as_deleted(const ObjectEvent& event) {
  return std::visit(
      [](const auto& change) -> ObjectEvent {
        using T = typename ObjectOf<std::decay_t<decltype(change)>>::type;
        return Deleted<T>{change.object};
      },
      event);
}

bool same_facts(const ObjectEvent& a, const ObjectEvent& b) {
  return std::visit(
      [&b](const auto& change) {
        const auto* other = std::get_if<std::decay_t<decltype(change)>>(&b);
        if (other == nullptr) {
          return false;
        }
        auto copy = *change.object;
        copy.meta.resource_version = other->object->meta.resource_version;
        return copy == *other->object;
      },
      a);
}

}  // namespace muster::client
