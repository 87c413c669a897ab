// URL paths and queries of the Kubernetes API. Pure.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::client {

// A kind's collection: group (empty: core), version, plural.
struct Resource {
  std::string group{};
  std::string version{};
  std::string plural{};
};

// Everything but unreserved characters (RFC 3986) as %XX.
std::string percent_encode(std::string_view text);

// `/apis/batch/v1/namespaces/team-a/jobs`; without a namespace the collection of all.
std::string collection_path(const Resource& resource, std::string_view ns = {});
// `…/jobs/train`, or `…/jobs/train/status`.
std::string object_path(const Resource& resource, std::string_view ns, std::string_view name,
                        std::string_view subresource = {});

using Query = std::vector<std::pair<std::string, std::string>>;

// `path?a=1&b=x%20y`; values are encoded, empty ones left out.
std::string with_query(std::string path, const Query& query);

}  // namespace muster::client
