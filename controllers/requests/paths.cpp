#include "controllers/requests/paths.h"

namespace muster::controllers {
namespace {

using framework::Kind;

struct Resource {
  std::string_view api_version{};
  std::string_view plural{};
};

Resource resource_of(Kind kind) {
  constexpr std::string_view kKueue = "kueue.x-k8s.io/v1beta2";
  switch (kind) {
    case Kind::kWorkload:
      return {kKueue, "workloads"};
    case Kind::kJob:
      return {"batch/v1", "jobs"};
    case Kind::kPod:
      return {"v1", "pods"};
    case Kind::kClusterQueue:
      return {kKueue, "clusterqueues"};
    case Kind::kLocalQueue:
      return {kKueue, "localqueues"};
    case Kind::kResourceFlavor:
      return {kKueue, "resourceflavors"};
    case Kind::kCohort:
      return {kKueue, "cohorts"};
    case Kind::kNode:
      return {"v1", "nodes"};
    case Kind::kNamespace:
      return {"v1", "namespaces"};
    case Kind::kWorkloadPriorityClass:
      return {kKueue, "workloadpriorityclasses"};
  }
  return {kKueue, "workloads"};
}

}  // namespace

std::string_view api_version_of(Kind kind) {
  return resource_of(kind).api_version;
}

std::string collection_path(Kind kind, const std::string& ns) {
  const Resource resource = resource_of(kind);
  const bool core = resource.api_version.find('/') == std::string_view::npos;
  std::string path = core ? "/api/" : "/apis/";
  path += resource.api_version;
  if (!ns.empty()) {
    path += "/namespaces/" + ns;
  }
  return path.append("/").append(resource.plural);
}

std::string object_path(Kind kind, const ObjectKey& key, std::string_view subresource) {
  std::string path = collection_path(kind, key.ns) + "/" + key.name;
  return subresource.empty() ? path : path.append("/").append(subresource);
}

}  // namespace muster::controllers
