#include "sim/api_server.h"

#include "controllers/requests/json_edit.h"
#include "sim/job_rules.h"
#include "sim/patch.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string_view>
#include <utility>

namespace muster::sim {

using api::Json;
using controllers::find_at;
using controllers::object_at;
using controllers::text_at;
using framework::ApiReply;
using framework::ApiRequest;

namespace {

struct HttpStatus {
  int code = 500;
  const char* reason = "InternalError";
};

HttpStatus http_status(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return {422, "Invalid"};
    case ErrorCode::kNotFound:
      return {404, "NotFound"};
    case ErrorCode::kConflict:
      return {409, "Conflict"};
    case ErrorCode::kAlreadyExists:
      return {409, "AlreadyExists"};
    default:
      return {500, "InternalError"};
  }
}

ApiReply failure(const Error& error) {
  const HttpStatus http = http_status(error.code);
  const Json status = {{"kind", "Status"},      {"apiVersion", "v1"},          {"status", "Failure"},
                       {"reason", http.reason}, {"message", to_string(error)}, {"code", http.code}};
  return {.status = http.code, .body = api::dump_json(status)};
}

std::string described(const ResourceKind& kind, const ObjectKey& key) {
  return std::string(kind.plural) + " \"" + key.name + "\"";
}

Error not_found(const ResourceKind& kind, const ObjectKey& key) {
  return {.code = ErrorCode::kNotFound, .message = described(kind, key) + " not found"};
}

Error conflict(const ResourceKind& kind, const ObjectKey& key, const std::string& detail) {
  return {.code = ErrorCode::kConflict,
          .message = "Operation cannot be fulfilled on " + described(kind, key) + ": " + detail};
}

bool is_deleting(const Json& object) {
  return find_at(object, {"metadata", "deletionTimestamp"}) != nullptr;
}

bool has_finalizers(const Json& object) {
  const Json* finalizers = find_at(object, {"metadata", "finalizers"});
  return finalizers != nullptr && !finalizers->empty();
}

// A pod on a node is gone only when its kubelet says so.
bool waits_for_kubelet(const ResourceKind& kind, const Json& object) {
  if (kind.name != "Pod" || text_at(object, {"spec", "nodeName"}).empty()) {
    return false;
  }
  const std::string phase = text_at(object, {"status", "phase"});
  return phase != "Succeeded" && phase != "Failed";
}

// uid and resourceVersion of `wanted` (metadata of an object, or DeleteOptions' preconditions), where given.
Status check_preconditions(const ResourceKind& kind, const ObjectKey& key, const Json& stored, const Json* wanted) {
  if (wanted == nullptr) {
    return {};
  }
  const std::string uid = text_at(*wanted, {"uid"});
  if (!uid.empty() && uid != text_at(stored, {"metadata", "uid"})) {
    return conflict(kind, key, "Precondition failed: UID in precondition: " + uid);
  }
  const std::string version = text_at(*wanted, {"resourceVersion"});
  if (!version.empty() && version != text_at(stored, {"metadata", "resourceVersion"})) {
    return conflict(kind, key, "the object has been modified; please apply your changes to the latest version");
  }
  return {};
}

// Metadata that only the server sets.
void keep_server_metadata(const Json& stored, Json& object) {
  Json& metadata = object_at(object, {"metadata"});
  for (const char* key : {"name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "resourceVersion",
                          "generation", "deletionGracePeriodSeconds"}) {
    if (const Json* value = find_at(stored, {"metadata", key})) {
      metadata[key] = *value;
    } else {
      metadata.erase(key);
    }
  }
}

// The stored object with only the wanted part taken from `object`.
Json part_of(const ResourceKind& kind, const Json& stored, Json object, Part part) {
  if (part == Part::kStatus) {
    Json result = stored;
    if (object.contains("status")) {
      result["status"] = std::move(object["status"]);
    } else {
      result.erase("status");
    }
    return result;
  }
  keep_server_metadata(stored, object);
  for (const char* key : {"apiVersion", "kind"}) {
    object[key] = stored[key];
  }
  if (kind.has_status && stored.contains("status")) {
    object["status"] = stored["status"];
  } else if (kind.has_status) {
    object.erase("status");
  }
  return object;
}

bool same_spec(const Json& a, const Json& b) {
  const Json* left = find_at(a, {"spec"});
  const Json* right = find_at(b, {"spec"});
  return (left == nullptr) == (right == nullptr) && (left == nullptr || *left == *right);
}

}  // namespace

// ---- the typed face ----

Stored ApiServer::find(const ResourceKind& kind, const ObjectKey& key) const {
  const auto& objects = all(kind);
  const auto found = objects.find(key);
  return found == objects.end() ? nullptr : found->second;
}

const std::map<ObjectKey, Stored>& ApiServer::all(const ResourceKind& kind) const {
  static const std::map<ObjectKey, Stored> kNone;
  const auto found = objects_.find(&kind);
  return found == objects_.end() ? kNone : found->second;
}

std::vector<ObjectKey> ApiServer::owned_by(const std::string& uid, const ResourceKind& kind) const {
  std::vector<ObjectKey> keys;
  const auto owned = owned_.find(uid);
  if (owned == owned_.end()) {
    return keys;
  }
  for (const auto& [owned_kind, key] : owned->second) {
    if (owned_kind == &kind) {
      keys.push_back(key);
    }
  }
  return keys;
}

Result<Stored> ApiServer::create(const ResourceKind& kind, Json object) {
  const ObjectKey key{kind.namespaced ? text_at(object, {"metadata", "namespace"}) : std::string(),
                      text_at(object, {"metadata", "name"})};
  if (key.name.empty() || (kind.namespaced && key.ns.empty())) {
    return invalid("Required value", key.name.empty() ? "metadata.name" : "metadata.namespace");
  }
  if (kind.namespaced && kind.name != "Event" && find(kind_of("Namespace"), {{}, key.ns}) == nullptr) {
    return not_found(kind_of("Namespace"), {{}, key.ns});
  }
  if (find(kind, key) != nullptr) {
    return Error{.code = ErrorCode::kAlreadyExists, .message = described(kind, key) + " already exists"};
  }
  Json& metadata = object["metadata"];
  metadata["uid"] = fmt::format("00000000-0000-4000-8000-{:012x}", ++uids_);
  metadata["creationTimestamp"] = format_rfc3339(now_);
  metadata["generation"] = 1;
  metadata.erase("deletionTimestamp");
  object["apiVersion"] = kind.api_version();
  object["kind"] = std::string(kind.name);
  if (kind.has_status && kind.name != "Node") {
    object.erase("status");  // set by its own controller, never by who creates
  }
  set_defaults(kind, object);
  put(kind, key, std::move(object));
  return find(kind, key);
}

Result<Stored> ApiServer::update(const ResourceKind& kind, const ObjectKey& key, Json object, Part part) {
  const Stored stored = find(kind, key);
  if (stored == nullptr) {
    return not_found(kind, key);
  }
  MUSTER_RETURN_IF_ERROR(check_preconditions(kind, key, *stored, find_at(object, {"metadata"})));
  Json next = part_of(kind, *stored, std::move(object), part);
  if (next == *stored) {
    return stored;
  }
  MUSTER_RETURN_IF_ERROR(check_update(kind, *stored, next));
  if (!same_spec(*stored, next)) {
    next["metadata"]["generation"] = controllers::integer_at(*stored, {"metadata", "generation"}, 0) + 1;
  }
  if (is_deleting(next) && !has_finalizers(next) && !waits_for_kubelet(kind, next)) {
    auto last = std::make_shared<const Json>(std::move(next));
    erase(kind, key);
    return Stored(std::move(last));
  }
  put(kind, key, std::move(next));
  return find(kind, key);
}

Status ApiServer::remove(const ResourceKind& kind, const ObjectKey& key, Grace grace) {
  const Stored stored = find(kind, key);
  if (stored == nullptr) {
    return not_found(kind, key);
  }
  const bool waits = has_finalizers(*stored) || (grace == Grace::kPolite && waits_for_kubelet(kind, *stored));
  if (!waits) {
    erase(kind, key);
    return {};
  }
  if (!is_deleting(*stored)) {
    Json next = *stored;
    next["metadata"]["deletionTimestamp"] = format_rfc3339(now_);
    put(kind, key, std::move(next));
  }
  return {};
}

// ---- storage ----

void ApiServer::put(const ResourceKind& kind, const ObjectKey& key, Json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  Stored& slot = objects_[&kind][key];
  const Stored before = slot;
  slot = std::make_shared<const Json>(std::move(object));
  const Stored after = slot;
  index_owners({&kind, key}, before, false);
  index_owners({&kind, key}, after, true);
  tell({.at = now_, .kind = &kind, .key = key, .before = before, .after = after});
}

// Dependents go with their last owner, as the garbage collector sees to in the background.
void ApiServer::erase(const ResourceKind& kind, const ObjectKey& key) {
  auto& objects = objects_[&kind];
  const auto found = objects.find(key);
  if (found == objects.end()) {
    return;
  }
  const Stored before = found->second;
  objects.erase(found);
  ++version_;
  index_owners({&kind, key}, before, false);
  tell({.at = now_, .kind = &kind, .key = key, .before = before});
  const auto owned = owned_.find(text_at(*before, {"metadata", "uid"}));
  if (owned == owned_.end()) {
    return;
  }
  const std::set<Ref> dependents = owned->second;
  for (const auto& [dependent_kind, dependent] : dependents) {
    static_cast<void>(remove(*dependent_kind, dependent));
  }
}

void ApiServer::index_owners(const Ref& ref, const Stored& object, bool add) {
  const Json* owners = object == nullptr ? nullptr : find_at(*object, {"metadata", "ownerReferences"});
  if (owners == nullptr || !owners->is_array()) {
    return;
  }
  for (const Json& owner : *owners) {
    const std::string uid = text_at(owner, {"uid"});
    if (add) {
      owned_[uid].insert(ref);
    } else if (const auto found = owned_.find(uid); found != owned_.end()) {
      found->second.erase(ref);
      if (found->second.empty()) {
        owned_.erase(found);
      }
    }
  }
}

void ApiServer::tell(const Change& change) {
  for (ChangeListener* listener : listeners_) {
    listener->on_change(change);
  }
}

// ---- the HTTP face ----

ApiReply ApiServer::handle(const ApiRequest& request) {
  int success = 200;
  const Result<Stored> result = serve(request, success);
  return result.ok() ? ApiReply{.status = success, .body = api::dump_json(**result)} : failure(result.error());
}

Result<Stored> ApiServer::serve(const ApiRequest& request, int& success) {
  MUSTER_TRY(path, parse_path(request.path));
  if (request.method == "POST") {
    success = 201;
    return serve_post(path, request.body);
  }
  if (path.key.name.empty()) {
    return request.method == "GET" ? serve_list(path) : Result<Stored>(invalid("not allowed on a collection"));
  }
  if (request.method == "PATCH") {
    return serve_patch(path, request);
  }
  if (request.method == "DELETE") {
    return serve_delete(path, request.body);
  }
  if (request.method == "PUT") {
    MUSTER_TRY(object, api::parse_json(request.body));
    return update(*path.kind, path.key, std::move(object), path.subresource == "status" ? Part::kStatus : Part::kSpec);
  }
  Stored found = request.method == "GET" ? find(*path.kind, path.key) : nullptr;
  return found == nullptr ? Result<Stored>(not_found(*path.kind, path.key)) : Result<Stored>(std::move(found));
}

Result<Stored> ApiServer::serve_list(const ResourcePath& path) const {
  Json items = Json::array();
  for (const auto& [key, object] : all(*path.kind)) {
    if (path.key.ns.empty() || key.ns == path.key.ns) {
      items.push_back(*object);
    }
  }
  return std::make_shared<const Json>(Json{{"apiVersion", path.kind->api_version()},
                                           {"kind", std::string(path.kind->name) + "List"},
                                           {"metadata", {{"resourceVersion", std::to_string(version_)}}},
                                           {"items", std::move(items)}});
}

Result<Stored> ApiServer::serve_post(const ResourcePath& path, const std::string& body) {
  MUSTER_TRY(object, api::parse_json(body));
  if (path.kind->name == "Pod" && path.subresource == "binding") {
    return bind(path.key, object);
  }
  if (!path.key.name.empty() || !object.is_object()) {
    return invalid("a POST creates one object in a collection");
  }
  if (path.kind->namespaced) {
    object_at(object, {"metadata"})["namespace"] = path.key.ns;
  }
  return create(*path.kind, std::move(object));
}

Result<Stored> ApiServer::serve_patch(const ResourcePath& path, const ApiRequest& request) {
  const Stored stored = find(*path.kind, path.key);
  if (stored == nullptr) {
    return not_found(*path.kind, path.key);
  }
  MUSTER_TRY(patched, apply_patch(request.content_type, *stored, request.body));
  return update(*path.kind, path.key, std::move(patched), path.subresource == "status" ? Part::kStatus : Part::kSpec);
}

Result<Stored> ApiServer::serve_delete(const ResourcePath& path, const std::string& body) {
  const Stored stored = find(*path.kind, path.key);
  if (stored == nullptr) {
    return not_found(*path.kind, path.key);
  }
  if (!body.empty()) {
    MUSTER_TRY(options, api::parse_json(body));
    MUSTER_RETURN_IF_ERROR(check_preconditions(*path.kind, path.key, *stored, find_at(options, {"preconditions"})));
  }
  MUSTER_RETURN_IF_ERROR(remove(*path.kind, path.key));
  return stored;
}

Result<Stored> ApiServer::bind(const ObjectKey& pod, const Json& binding) {
  const ResourceKind& kind = kind_of("Pod");
  const Stored stored = find(kind, pod);
  if (stored == nullptr) {
    return not_found(kind, pod);
  }
  MUSTER_RETURN_IF_ERROR(check_preconditions(kind, pod, *stored, find_at(binding, {"metadata"})));
  if (is_deleting(*stored)) {
    return conflict(kind, pod, "pod " + pod.name + " is being deleted, cannot be assigned to a host");
  }
  if (const std::string node = text_at(*stored, {"spec", "nodeName"}); !node.empty()) {
    return conflict(kind, pod, "pod " + pod.name + " is already assigned to node \"" + node + "\"");
  }
  if (const Json* gates = find_at(*stored, {"spec", "schedulingGates"}); gates != nullptr && !gates->empty()) {
    return conflict(kind, pod, "pod " + pod.name + " has non-empty .spec.schedulingGates");
  }
  Json next = *stored;
  next["spec"]["nodeName"] = text_at(binding, {"target", "name"});
  put(kind, pod, std::move(next));
  return find(kind, pod);
}

}  // namespace muster::sim
