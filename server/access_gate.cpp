#include "server/access_gate.h"

#include "client/reviews.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace muster::server {
namespace {

// The token of `Bearer <token>`; empty for any other scheme.
std::string_view bearer_token(std::string_view authorization) {
  constexpr std::string_view kScheme = "bearer ";
  const bool bearer = authorization.size() > kScheme.size() &&
                      std::equal(kScheme.begin(), kScheme.end(), authorization.begin(), [](char a, char b) {
                        return a == static_cast<char>(std::tolower(static_cast<unsigned char>(b)));
                      });
  return bearer ? authorization.substr(kScheme.size()) : std::string_view{};
}

bool is_an_answer(const Status& status) {
  return status.ok() || status.error().code == ErrorCode::kUnauthenticated ||
         status.error().code == ErrorCode::kForbidden;
}

}  // namespace

AccessGate::AccessGate(const client::ApiClient& api, AccessOptions options) : api_(api), options_(std::move(options)) {}

Status AccessGate::check(const std::string* authorization, client::MonoTime now) {
  const std::string_view token = authorization == nullptr ? std::string_view{} : bearer_token(*authorization);
  if (token.empty()) {
    return Error{.code = ErrorCode::kUnauthenticated, .message = "a bearer token is needed"};
  }
  {
    const std::lock_guard lock(mutex_);
    const auto known = answers_.find(std::string(token));
    if (known != answers_.end() && now < known->second.until) {
      return known->second.status;
    }
  }
  Status status = ask(token);
  if (is_an_answer(status)) {
    remember(std::string(token), {.status = status, .until = now + options_.keep}, now);
  }
  return status;
}

Status AccessGate::ask(std::string_view token) const {
  const auto user = client::review_token(api_, token);
  if (!user.ok()) {
    return user.error();
  }
  return client::review_access(api_, *user, client::PathAccess{.path = options_.path, .verb = options_.verb});
}

void AccessGate::remember(std::string token, Answer answer, client::MonoTime now) {
  const std::lock_guard lock(mutex_);
  if (answers_.size() >= options_.entries) {
    std::erase_if(answers_, [now](const auto& entry) { return entry.second.until <= now; });
  }
  if (answers_.size() >= options_.entries) {
    answers_.erase(std::min_element(answers_.begin(), answers_.end(),
                                    [](const auto& a, const auto& b) { return a.second.until < b.second.until; }));
  }
  answers_.insert_or_assign(std::move(token), std::move(answer));
}

}  // namespace muster::server
