// TokenCache: the bearer token, re-read from its file at most every 30 s and after a 401. Thread-safe.
#pragma once

#include "base/result.h"
#include "net/tls.h"

#include <chrono>
#include <mutex>
#include <string>
#include <utility>

namespace muster::net::cpprest {

class TokenCache {
 public:
  explicit TokenCache(TextSource source) : source_(std::move(source)) {}

  // Empty if there is no token. A file that has become unreadable keeps the last token; an Error only before the first.
  Result<std::string> current();
  // Reads the file now. True: it holds another token than `used`, so that it is worth to try again.
  bool renew(const std::string& used);

 private:
  Status read();  // mutex_ held

  const TextSource source_;
  std::mutex mutex_{};
  std::string token_{};                              // guarded by mutex_
  std::chrono::steady_clock::time_point read_at_{};  // guarded by mutex_
};

}  // namespace muster::net::cpprest
