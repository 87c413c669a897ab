#include "client/api_client.h"

#include "client/api_error.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace muster::client {
namespace {

using api::Json;

constexpr std::string_view kJsonType = "application/json";
constexpr api::JsonLimits kReplyLimits{.bytes = std::size_t{256} << 20};

std::string_view content_type(PatchType type) {
  switch (type) {
    case PatchType::kMerge:
      return "application/merge-patch+json";
    case PatchType::kJson:
      return "application/json-patch+json";
    case PatchType::kStrategicMerge:
      return "application/strategic-merge-patch+json";
  }
  return kJsonType;
}

std::string continue_token(const Json& list) {
  const auto metadata = list.find("metadata");
  if (metadata == list.end() || !metadata->is_object()) {
    return {};
  }
  const auto token = metadata->find("continue");
  return token != metadata->end() && token->is_string() ? token->get<std::string>() : std::string();
}

}  // namespace

ApiClient ApiClient::with_stop(std::stop_token stop) const {
  ApiClient copy = *this;
  copy.stop_ = std::move(stop);
  return copy;
}

Result<Json> ApiClient::call(std::string method, std::string path, std::string body,
                             std::string_view content_type) const {
  net::Request request{.method = std::move(method),
                       .target = std::move(path),
                       .headers = {{"Accept", std::string(kJsonType)}},
                       .body = std::move(body),
                       .deadline = deadline_};
  request.replay_safe = request.method == "GET";
  if (!request.body.empty()) {
    request.headers.emplace_back("Content-Type", std::string(content_type));
  }
  MUSTER_TRY(response, transport_.call(request, stop_));
  if (response.status < 200 || response.status >= 300) {
    return error_of(response);
  }
  return api::parse_json(response.body, kReplyLimits);
}

Result<Json> ApiClient::get(const std::string& path) const {
  return call("GET", path, {}, {});
}

Result<std::vector<Json>> ApiClient::list(const std::string& path, const Query& query) const {
  auto items = list_once(path, query);
  const bool expired = !items.ok() && items.error().code == ErrorCode::kGone;
  return expired ? list_once(path, query) : std::move(items);
}

Result<std::vector<Json>> ApiClient::list_once(const std::string& path, const Query& query) const {
  std::vector<Json> items;
  std::string token;
  do {
    Query page = query;
    page.insert(page.end(), {{"limit", "500"}, {"continue", token}});
    MUSTER_TRY(list, get(with_query(path, page)));
    if (!list.is_object() || !list.contains("items")) {
      return Error{.code = ErrorCode::kInternal, .message = path + ": the answer is not a list"};
    }
    for (Json& item : list["items"]) {
      items.push_back(std::move(item));
    }
    token = continue_token(list);
  } while (!token.empty());
  return items;
}

Result<Json> ApiClient::create(const std::string& path, const Json& object) const {
  return call("POST", path, api::dump_json(object), kJsonType);
}

Result<Json> ApiClient::replace(const std::string& path, const Json& object) const {
  return call("PUT", path, api::dump_json(object), kJsonType);
}

Result<Json> ApiClient::patch(const std::string& path, const Json& change, PatchType type) const {
  return call("PATCH", path, api::dump_json(change), content_type(type));
}

Result<Json> ApiClient::apply(const std::string& path, const Json& object, std::string_view field_manager) const {
  return call("PATCH", with_query(path, {{"fieldManager", std::string(field_manager)}, {"force", "true"}}),
              api::dump_json(object), "application/apply-patch+yaml");
}

Status ApiClient::remove(const std::string& path, const Preconditions& only_if) const {
  Json options = {{"apiVersion", "v1"}, {"kind", "DeleteOptions"}};
  if (!only_if.uid.empty()) {
    options["preconditions"]["uid"] = only_if.uid;
  }
  if (!only_if.resource_version.empty()) {
    options["preconditions"]["resourceVersion"] = only_if.resource_version;
  }
  const auto deleted = call("DELETE", path, api::dump_json(options), kJsonType);
  return deleted.ok() ? Status() : Status(deleted.error());
}

}  // namespace muster::client
