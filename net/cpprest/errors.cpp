#include "net/cpprest/errors.h"

#include <openssl/err.h>
#include <openssl/sslerr.h>

#include <array>
#include <cerrno>
#include <string_view>

namespace muster::net::cpprest {
namespace {

bool starts_with(const std::string& text, std::string_view prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

// Errno values are small; an OpenSSL error number carries its library in the high bits.
bool is_openssl(int code) {
  return (static_cast<unsigned>(code) >> 23U) != 0;
}

std::string openssl_text(int code) {
  std::array<char, 256> text{};
  ERR_error_string_n(static_cast<unsigned>(code), text.data(), text.size());
  return text.data();
}

Error tls_error(const Failure& failure, const std::string& where) {
  std::string message = where + ": TLS: " + openssl_text(failure.code);
  if (ERR_GET_REASON(static_cast<unsigned>(failure.code)) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
    message += " (the server's certificate is not of the given CA, is out of its validity, or has another name)";
  }
  return Error{.code = ErrorCode::kUnauthenticated, .message = std::move(message)};
}

}  // namespace

Error to_error(const Failure& failure, const std::string& where) {
  if (is_openssl(failure.code)) {
    return tls_error(failure, where);
  }
  ErrorCode code = ErrorCode::kUnavailable;
  if (failure.code == ETIMEDOUT) {
    code = ErrorCode::kTimeout;
  } else if (failure.code == ECANCELED) {
    code = ErrorCode::kCancelled;
  }
  return Error{.code = code,
               .message = where + ": " + failure.message + " (code " + std::to_string(failure.code) + ")"};
}

bool DeadConnections::was_one(const Failure& failure) {
  constexpr int kMostNeverOpened = 128;
  if (!starts_with(failure.message, "Failed to write request")) {
    return false;
  }
  return failure.code == EBADF ? ++never_opened_ <= kMostNeverOpened : ++closed_ <= 1;
}

}  // namespace muster::net::cpprest
