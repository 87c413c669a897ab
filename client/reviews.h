// Who sends this bearer token, and may they? TokenReview and SubjectAccessReview, for the metrics and visibility
// endpoints. Blocking; any thread. Callers cache.
#pragma once

#include "client/api_client.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

struct UserInfo {
  std::string name{};
  std::string uid{};
  std::vector<std::string> groups{};
  std::map<std::string, std::vector<std::string>> extra{};
};

// kUnauthenticated if the token is not good.
Result<UserInfo> review_token(const ApiClient& client, std::string_view token);

// A request for a URL path that is no resource (`get` of `/metrics`).
struct PathAccess {
  std::string path{};
  std::string verb{};
};

// A request for a resource of the API.
struct ResourceAccess {
  Resource resource{};
  std::string subresource{};
  std::string verb{};
  std::string ns{};
  std::string name{};
};

// kForbidden, with the authorizer's reason, if they may not.
Status review_access(const ApiClient& client, const UserInfo& user, const PathAccess& access);
Status review_access(const ApiClient& client, const UserInfo& user, const ResourceAccess& access);

}  // namespace muster::client
