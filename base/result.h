// Result<T>: a value or an Error. The only way a fallible operation reports failure inside Muster; exceptions of
// third-party code are caught at its wall and become an Error. Plain values, no thread affinity.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.h"

namespace muster {

// Kinds a caller can act on. Keep the list short: a code nobody branches on is a message.
enum class ErrorCode {
  kInvalid,          // the input is wrong; repeating it cannot help
  kNotFound,         // the thing named does not exist
  kAlreadyExists,    // a create met an object of that name
  kConflict,         // a precondition (uid, resourceVersion) did not hold
  kGone,             // a watch position is too old (HTTP 410): list again
  kUnauthenticated,  // credentials or TLS identity refused
  kForbidden,        // authenticated, but not allowed
  kTooLarge,         // a bound of ours was exceeded
  kThrottled,        // the peer asked to slow down (HTTP 429)
  kTimeout,          // a deadline passed
  kCancelled,        // the caller's stop token was triggered
  kUnavailable,      // the peer cannot be reached or failed; may help to repeat
  kInternal,         // unexpected; a bug here or at the peer
};

std::string_view to_string(ErrorCode code);

// What failed, and where in the input. `path` is the field's path for bad input, as kubectl prints it
// (`spec.podSets[0].count`), and empty elsewhere.
struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message{};
  std::string path{};
  bool maybe_executed = false;  // a write whose answer was lost may have taken effect

  friend bool operator==(const Error&, const Error&) = default;
};

// `path: message`, or just the message.
std::string to_string(const Error& error);

// Prepends a path element: `spec` + `[0].x` -> `spec[0].x`, `spec` + `x` -> `spec.x`.
Error at_path(Error error, std::string_view element);

inline Error invalid(std::string message, std::string path = {}) {
  return Error{.code = ErrorCode::kInvalid, .message = std::move(message), .path = std::move(path)};
}

template <class T>
class [[nodiscard]] Result {
 public:
  using value_type = T;
  Result(T value) : state_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : state_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return std::holds_alternative<T>(state_); }
  explicit operator bool() const { return ok(); }

  const T& value() const& {
    MUSTER_CHECK(ok()) << to_string(std::get<Error>(state_));
    return std::get<T>(state_);
  }
  T& value() & {
    MUSTER_CHECK(ok()) << to_string(std::get<Error>(state_));
    return std::get<T>(state_);
  }
  T&& value() && {
    MUSTER_CHECK(ok()) << to_string(std::get<Error>(state_));
    return std::move(std::get<T>(state_));
  }
  const T& operator*() const& { return value(); }
  T& operator*() & { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  const T* operator->() const { return &value(); }
  T* operator->() { return &value(); }
  T value_or(T fallback) const { return ok() ? value() : std::move(fallback); }

  const Error& error() const& {
    MUSTER_CHECK(!ok()) << "no error in this Result";
    return std::get<Error>(state_);
  }
  Error&& error() && {
    MUSTER_CHECK(!ok()) << "no error in this Result";
    return std::move(std::get<Error>(state_));
  }

 private:
  std::variant<T, Error> state_;
};

// Success, or an Error.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  const Error& error() const {
    MUSTER_CHECK(!ok()) << "no error in this Status";
    return *error_;
  }

 private:
  std::optional<Error> error_{};
};

}  // namespace muster

// MUSTER_TRY(name, expression): declares `name` from a Result's value, or returns its Error from this function.
#define MUSTER_CONCAT_INNER(a, b) a##b
#define MUSTER_CONCAT(a, b) MUSTER_CONCAT_INNER(a, b)
#define MUSTER_TRY(name, ...)                                                       \
  auto MUSTER_CONCAT(result_, __LINE__) = (__VA_ARGS__);                            \
  if (!MUSTER_CONCAT(result_, __LINE__).ok()) {                                     \
    return std::move(MUSTER_CONCAT(result_, __LINE__)).error();                     \
  }                                                                                 \
  auto name = std::move(MUSTER_CONCAT(result_, __LINE__)).value()

// MUSTER_RETURN_IF_ERROR(status expression)
#define MUSTER_RETURN_IF_ERROR(...)                        \
  if (auto muster_status = (__VA_ARGS__); !muster_status.ok()) { \
    return muster_status.error();                          \
  }
