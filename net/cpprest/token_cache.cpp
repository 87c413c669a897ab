#include "net/cpprest/token_cache.h"

namespace muster::net::cpprest {
namespace {

constexpr std::chrono::seconds kTokenAge{30};

std::string trimmed(const std::string& text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const auto begin = text.find_first_not_of(kSpace);
  return begin == std::string::npos ? std::string() : text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace

Status TokenCache::read() {
  MUSTER_TRY(text, source_.read());
  std::string token = trimmed(text);
  if (token.empty()) {
    return Error{.code = ErrorCode::kUnavailable, .message = "token file " + source_.file + " is empty"};
  }
  if (token.find_first_of("\r\n") != std::string::npos) {
    return invalid("the token in " + source_.file + " spans lines");
  }
  token_ = std::move(token);
  return {};
}

Result<std::string> TokenCache::current() {
  if (source_.empty()) {
    return std::string();
  }
  const std::lock_guard lock(mutex_);
  const auto now = std::chrono::steady_clock::now();
  if (token_.empty() || now - read_at_ >= kTokenAge) {
    const Status status = read();
    if (!status.ok() && token_.empty()) {
      return status.error();
    }
    read_at_ = now;
  }
  return token_;
}

bool TokenCache::renew(const std::string& used) {
  if (source_.file.empty() || !source_.text.empty()) {
    return false;
  }
  const std::lock_guard lock(mutex_);
  if (read().ok()) {
    read_at_ = std::chrono::steady_clock::now();
  }
  return !token_.empty() && token_ != used;
}

}  // namespace muster::net::cpprest
