// AccessGate: may the sender of this bearer token read this path? Asks the API server (TokenReview, then
// SubjectAccessReview) and remembers the answer for a minute. Bounded: whoever sends many tokens pushes out others'
// answers, no more.
//
// Any thread; check() blocks for as long as the API server takes.
#pragma once

#include "base/result.h"
#include "client/api_client.h"
#include "client/clock.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace muster::server {

struct AccessOptions {
  std::string path = "/metrics";
  std::string verb = "get";
  Duration keep = std::chrono::minutes(1);
  std::size_t entries = 256;
};

class AccessGate {
 public:
  explicit AccessGate(const client::ApiClient& api, AccessOptions options = {});

  // `authorization`: the header's value, null when there is none. kUnauthenticated: no token, or none that is good.
  // kForbidden: known, but not allowed. Anything else: nobody could say.
  Status check(const std::string* authorization, client::MonoTime now);

 private:
  struct Answer {
    Status status{};
    client::MonoTime until{};
  };

  Status ask(std::string_view token) const;
  void remember(std::string token, Answer answer, client::MonoTime now);

  client::ApiClient api_;
  AccessOptions options_;
  std::mutex mutex_{};
  std::map<std::string, Answer> answers_{};  // by token; guarded by mutex_
};

}  // namespace muster::server
