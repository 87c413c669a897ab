// The kinds that the model API server stores, one table: where they live, and how the manager's watch reads them.
// Plain constants, no state.
#pragma once

#include "api/codec/json.h"
#include "base/ids.h"
#include "base/result.h"
#include "framework/events.h"

#include <span>
#include <string>
#include <string_view>

namespace muster::sim {

struct ResourceKind {
  std::string_view name{};   // `Job`
  std::string_view group{};  // empty: the core group
  std::string_view version{};
  std::string_view plural{};
  bool namespaced = false;
  bool has_status = false;  // has the subresource /status
  // The object as the manager sees it; null: the manager does not watch this kind.
  Result<framework::ObjectEvent> (*upserted)(const api::Json& object) = nullptr;
  Result<framework::ObjectEvent> (*deleted)(const api::Json& object) = nullptr;

  std::string api_version() const;
};

// In the order in which a manager lists them. Identity matters: a kind is named by its address in this table.
std::span<const ResourceKind> resource_kinds();
// Null when unknown.
const ResourceKind* find_kind(std::string_view api_version, std::string_view name);
// Of a kind that is in the table, by its Kubernetes name.
const ResourceKind& kind_of(std::string_view name);

// What a request path names.
struct ResourcePath {
  const ResourceKind* kind = nullptr;
  ObjectKey key{};  // empty name: the collection
  std::string subresource{};
  std::string query{};
};

// kNotFound for a path that the model does not serve.
Result<ResourcePath> parse_path(std::string_view path);

}  // namespace muster::sim
