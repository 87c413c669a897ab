// ConfigurationKeeper: keeps the two webhook configuration objects in line with our configuration and our CA: at start,
// whenever the CA changes, and after somebody (an upgrade's `kubectl apply`) has set them back. It never creates them:
// they are part of the manifests.
//
// Owner: the manager; one replica, the leader, is enough. One thread of its own from start() to stop(); other methods
// from any thread.
#pragma once

#include "api/codec/json.h"
#include "api/config/configuration.h"
#include "base/result.h"
#include "base/time.h"
#include "client/api_client.h"
#include "webhook/server/report.h"

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

namespace muster::webhook {

// Whom the API server should trust. A function, so that a new CA is seen.
struct CaSource {
  bool self_made = true;                      // false: somebody else puts the bundle in
  std::function<std::string()> pem_bundle{};  // empty while there is none yet
};

class ConfigurationKeeper {
 public:
  ConfigurationKeeper(const client::ApiClient& api, const api::Configuration& configuration,
                      const std::string& own_namespace, CaSource ca, ReportProblem report);
  ~ConfigurationKeeper();
  ConfigurationKeeper(const ConfigurationKeeper&) = delete;
  ConfigurationKeeper& operator=(const ConfigurationKeeper&) = delete;

  void start();
  void stop();

  // The last round found or made both objects right.
  bool in_line() const { return in_line_; }

  // How often an object had to be corrected.
  std::uint64_t corrections() const { return corrections_; }

  // One round: what the thread does every 15 seconds, and at once when the CA changes.
  Status check();

 private:
  struct Kept {
    std::string path{};
    std::shared_ptr<const api::Json> wanted{};
  };

  Status check_one(const Kept& kept, const std::string& bundle);
  bool is_time();
  void run() noexcept;

  std::stop_source stop_{};
  client::ApiClient api_;
  std::vector<Kept> kept_{};
  CaSource ca_;
  ReportProblem report_;
  std::optional<std::string> last_bundle_{};  // of the last round; used by one thread at a time
  int idle_rounds_ = 0;
  std::atomic<bool> in_line_ = false;
  std::atomic<std::uint64_t> corrections_ = 0;
  std::jthread thread_{};
};

}  // namespace muster::webhook
