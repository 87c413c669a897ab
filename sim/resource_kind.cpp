#include "sim/resource_kind.h"

#include "api/codec/decode.h"
#include "api/constants.h"
#include "base/check.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace muster::sim {
namespace {

using api::Json;
using framework::ObjectEvent;

template <class T>
Result<ObjectEvent> upserted(const Json& object) {
  MUSTER_TRY(value, api::decode<T>(object));
  return ObjectEvent(framework::Upserted<T>{std::make_shared<const T>(std::move(value))});
}

template <class T>
Result<ObjectEvent> deleted(const Json& object) {
  MUSTER_TRY(value, api::decode<T>(object));
  return ObjectEvent(framework::Deleted<T>{std::make_shared<const T>(std::move(value))});
}

template <class T>
constexpr ResourceKind watched(ResourceKind kind) {
  kind.upserted = upserted<T>;
  kind.deleted = deleted<T>;
  return kind;
}

constexpr bool kNamespaced = true;
constexpr bool kClusterWide = false;
constexpr bool kStatus = true;
constexpr bool kNoStatus = false;

const std::array kKinds = {
    watched<api::ResourceFlavor>(
        {"ResourceFlavor", api::kKueueGroup, "v1beta2", "resourceflavors", kClusterWide, kNoStatus}),
    watched<api::ClusterQueue>({"ClusterQueue", api::kKueueGroup, "v1beta2", "clusterqueues", kClusterWide, kStatus}),
    watched<api::Cohort>({"Cohort", api::kKueueGroup, "v1beta2", "cohorts", kClusterWide, kStatus}),
    watched<api::LocalQueue>({"LocalQueue", api::kKueueGroup, "v1beta2", "localqueues", kNamespaced, kStatus}),
    watched<api::WorkloadPriorityClass>(
        {"WorkloadPriorityClass", api::kKueueGroup, "v1beta2", "workloadpriorityclasses", kClusterWide, kNoStatus}),
    watched<api::Workload>({"Workload", api::kKueueGroup, "v1beta2", "workloads", kNamespaced, kStatus}),
    watched<api::Job>({"Job", "batch", "v1", "jobs", kNamespaced, kStatus}),
    watched<api::Pod>({"Pod", "", "v1", "pods", kNamespaced, kStatus}),
    watched<api::Node>({"Node", "", "v1", "nodes", kClusterWide, kStatus}),
    watched<api::Namespace>({"Namespace", "", "v1", "namespaces", kClusterWide, kStatus}),
    watched<api::PriorityClass>(
        {"PriorityClass", "scheduling.k8s.io", "v1", "priorityclasses", kClusterWide, kNoStatus}),
    watched<api::RuntimeClass>({"RuntimeClass", "node.k8s.io", "v1", "runtimeclasses", kClusterWide, kNoStatus}),
    watched<api::LimitRange>({"LimitRange", "", "v1", "limitranges", kNamespaced, kNoStatus}),
    ResourceKind{"Event", "events.k8s.io", "v1", "events", kNamespaced, kNoStatus},
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(separator, start), text.size());
    if (end > start) {
      parts.emplace_back(text.substr(start, end - start));
    }
    start = end + 1;
  }
  return parts;
}

const ResourceKind* by_plural(std::string_view group, std::string_view version, std::string_view plural) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const ResourceKind& kind) {
    return kind.group == group && kind.version == version && kind.plural == plural;
  });
  return found == kKinds.end() ? nullptr : &*found;
}

Error no_such_path(std::string_view path) {
  return {.code = ErrorCode::kNotFound,
          .message = "the server could not find the requested resource: " + std::string(path)};
}

}  // namespace

std::string ResourceKind::api_version() const {
  return group.empty() ? std::string(version) : std::string(group) + "/" + std::string(version);
}

std::span<const ResourceKind> resource_kinds() {
  return kKinds;
}

const ResourceKind* find_kind(std::string_view api_version, std::string_view name) {
  const auto found = std::find_if(kKinds.begin(), kKinds.end(), [&](const ResourceKind& kind) {
    return kind.name == name && kind.api_version() == api_version;
  });
  return found == kKinds.end() ? nullptr : &*found;
}

const ResourceKind& kind_of(std::string_view name) {
  const auto found =
      std::find_if(kKinds.begin(), kKinds.end(), [name](const ResourceKind& kind) { return kind.name == name; });
  MUSTER_CHECK(found != kKinds.end()) << "no kind " << std::string(name);
  return *found;
}

// /api/v1/… or /apis/GROUP/VERSION/…, then [namespaces/NS/]PLURAL[/NAME[/SUBRESOURCE]].
Result<ResourcePath> parse_path(std::string_view path) {
  ResourcePath result;
  const std::size_t question = path.find('?');
  if (question != std::string_view::npos) {
    result.query = path.substr(question + 1);
  }
  const std::vector<std::string> parts = split(path.substr(0, question), '/');
  const bool core = !parts.empty() && parts[0] == "api";
  const std::size_t skip = core ? 2 : 3;
  if (parts.size() <= skip || (!core && parts[0] != "apis")) {
    return no_such_path(path);
  }
  const std::string group = core ? "" : parts[1];
  const std::string& version = parts[skip - 1];
  std::size_t at = skip;
  if (parts.size() > at + 2 && parts[at] == "namespaces" && by_plural(group, version, parts[at + 2]) != nullptr) {
    result.key.ns = parts[at + 1];
    at += 2;
  }
  result.kind = by_plural(group, version, parts[at]);
  if (result.kind == nullptr || parts.size() > at + 3) {
    return no_such_path(path);
  }
  if (parts.size() > at + 1) {
    result.key.name = parts[at + 1];
  }
  if (parts.size() > at + 2) {
    result.subresource = parts[at + 2];
  }
  return result;
}

}  // namespace muster::sim
