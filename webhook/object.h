// Reading and changing the metadata of an object as JSON. Every function but check_shape wants an object that it has
// let pass. Internal to webhook/. Pure.
#pragma once

#include "api/codec/json.h"
#include "api/core/meta.h"
#include "base/result.h"

#include <string>
#include <string_view>

namespace muster::webhook {

// kInvalid, with the field's path, where `metadata` or `spec` has not the types that Kubernetes gives it.
Status check_shape(const api::Json& object);

// The member, or JSON null when it or a parent is absent. Borrowed from `object`.
const api::Json& member(const api::Json& object, std::string_view first, std::string_view second = {});
// The text under metadata.labels / metadata.annotations, or null when absent. Borrowed.
const std::string* label(const api::Json& object, std::string_view key);
const std::string* annotation(const api::Json& object, std::string_view key);
std::string namespace_of(const api::Json& object);
bool is_deleting(const api::Json& object);
api::StringMap labels_of(const api::Json& object);

// A controlling owner of a kind that Kueue has an integration for.
bool is_owned_by_job_kind(const api::Json& object);
// A controlling owner that is a batch/v1 Job.
bool is_owned_by_job(const api::Json& object);

void set_label(api::Json& object, std::string_view key, std::string_view value);
// Adds `text` to the list of strings under metadata.finalizers, unless it is there.
void add_finalizer(api::Json& object, std::string_view finalizer);

}  // namespace muster::webhook
