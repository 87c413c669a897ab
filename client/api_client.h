// ApiClient: single objects of the API server as JSON, with its refusals as Errors. For the occasional request of the
// certificate manager, the command line and token reviews; the core's writes go through client/executor.h.
// Any number of threads. Nothing is retried.
#pragma once

#include "api/codec/json.h"
#include "base/result.h"
#include "client/clock.h"
#include "client/paths.h"
#include "net/transport.h"

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace muster::client {

// What a delete or write demands of the object it meets; empty: anything.
struct Preconditions {
  std::string uid{};
  std::string resource_version{};
};

enum class PatchType { kMerge, kJson, kStrategicMerge };

class ApiClient {
 public:
  // `transport` must outlive this.
  explicit ApiClient(net::Transport& transport, Duration deadline = std::chrono::seconds(30))
      : transport_(transport), deadline_(deadline) {}

  // The same client, whose calls end when `stop` is triggered.
  ApiClient with_stop(std::stop_token stop) const;

  Result<api::Json> get(const std::string& path) const;
  // All items, over as many pages as it takes; starts again once if the list expires under way.
  Result<std::vector<api::Json>> list(const std::string& path, const Query& query = {}) const;
  Result<api::Json> create(const std::string& path, const api::Json& object) const;
  Result<api::Json> replace(const std::string& path, const api::Json& object) const;
  Result<api::Json> patch(const std::string& path, const api::Json& change, PatchType type) const;
  // Server-side apply, forced.
  Result<api::Json> apply(const std::string& path, const api::Json& object, std::string_view field_manager) const;
  Status remove(const std::string& path, const Preconditions& only_if = {}) const;

 private:
  Result<api::Json> call(std::string method, std::string path, std::string body, std::string_view content_type) const;
  Result<std::vector<api::Json>> list_once(const std::string& path, const Query& query) const;

  net::Transport& transport_;
  Duration deadline_;
  std::stop_token stop_{};
};

}  // namespace muster::client
