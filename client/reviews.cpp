#include "client/reviews.h"

#include <nlohmann/json.hpp>

namespace muster::client {
namespace {

using api::Json;

const Json& member(const Json& object, const char* key) {
  static const Json kNone;
  const auto found = object.is_object() ? object.find(key) : object.end();
  return object.is_object() && found != object.end() ? *found : kNone;
}

std::string text(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : std::string();
}

bool is_set(const Json& object, const char* key) {
  const Json& value = member(object, key);
  return value.is_boolean() && value.get<bool>();
}

std::vector<std::string> strings(const Json& list) {
  std::vector<std::string> values;
  if (list.is_array()) {
    for (const Json& item : list) {
      if (item.is_string()) {
        values.push_back(item.get<std::string>());
      }
    }
  }
  return values;
}

UserInfo user_of(const Json& user) {
  UserInfo info{.name = text(user, "username"), .uid = text(user, "uid"), .groups = strings(member(user, "groups"))};
  const Json& extra = member(user, "extra");
  if (extra.is_object()) {
    for (const auto& [key, values] : extra.items()) {
      info.extra[key] = strings(values);
    }
  }
  return info;
}

Status review(const ApiClient& client, const UserInfo& user, const char* attributes_key, Json attributes) {
  Json spec = {{"user", user.name}, {"uid", user.uid}, {"groups", user.groups}, {"extra", user.extra}};
  spec[attributes_key] = std::move(attributes);
  const Json body = {
      {"apiVersion", "authorization.k8s.io/v1"}, {"kind", "SubjectAccessReview"}, {"spec", std::move(spec)}};
  const auto answer = client.create("/apis/authorization.k8s.io/v1/subjectaccessreviews", body);
  if (!answer.ok()) {
    return answer.error();
  }
  const Json& status = member(*answer, "status");
  if (is_set(status, "allowed") && !is_set(status, "denied")) {
    return {};
  }
  const std::string reason = text(status, "reason");
  return Error{.code = ErrorCode::kForbidden,
               .message = user.name + " may not do this" + (reason.empty() ? "" : ": " + reason)};
}

}  // namespace

Result<UserInfo> review_token(const ApiClient& client, std::string_view token) {
  const Json body = {
      {"apiVersion", "authentication.k8s.io/v1"}, {"kind", "TokenReview"}, {"spec", {{"token", std::string(token)}}}};
  MUSTER_TRY(answer, client.create("/apis/authentication.k8s.io/v1/tokenreviews", body));
  const Json& status = member(answer, "status");
  if (!is_set(status, "authenticated")) {
    const std::string reason = text(status, "error");
    return Error{.code = ErrorCode::kUnauthenticated, .message = reason.empty() ? "the token is not good" : reason};
  }
  return user_of(member(status, "user"));
}

Status review_access(const ApiClient& client, const UserInfo& user, const PathAccess& access) {
  return review(client, user, "nonResourceAttributes", {{"path", access.path}, {"verb", access.verb}});
}

Status review_access(const ApiClient& client, const UserInfo& user, const ResourceAccess& access) {
  return review(client, user, "resourceAttributes",
                {{"group", access.resource.group},
                 {"version", access.resource.version},
                 {"resource", access.resource.plural},
                 {"subresource", access.subresource},
                 {"verb", access.verb},
                 {"namespace", access.ns},
                 {"name", access.name}});
}

}  // namespace muster::client
