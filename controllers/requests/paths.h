// Where objects live in the Kubernetes API. Names come from the API server, so they need no escaping. Pure.
#pragma once

#include "framework/effects.h"

#include <string>
#include <string_view>

namespace muster::controllers {

// `batch/v1`; of the core group `v1`.
std::string_view api_version_of(framework::Kind kind);
// `/apis/batch/v1/namespaces/a/jobs`
std::string collection_path(framework::Kind kind, const std::string& ns);
// `/apis/batch/v1/namespaces/a/jobs/b`, `…/b/status`
std::string object_path(framework::Kind kind, const ObjectKey& key, std::string_view subresource = {});

}  // namespace muster::controllers
