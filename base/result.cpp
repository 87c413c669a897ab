#include "base/result.h"

namespace muster {

std::string_view to_string(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return "Invalid";
    case ErrorCode::kNotFound:
      return "NotFound";
    case ErrorCode::kAlreadyExists:
      return "AlreadyExists";
    case ErrorCode::kConflict:
      return "Conflict";
    case ErrorCode::kGone:
      return "Gone";
    case ErrorCode::kUnauthenticated:
      return "Unauthenticated";
    case ErrorCode::kForbidden:
      return "Forbidden";
    case ErrorCode::kTooLarge:
      return "TooLarge";
    case ErrorCode::kThrottled:
      return "Throttled";
    case ErrorCode::kTimeout:
      return "Timeout";
    case ErrorCode::kCancelled:
      return "Cancelled";
    case ErrorCode::kUnavailable:
      return "Unavailable";
    case ErrorCode::kInternal:
      return "Internal";
  }
  return "Internal";
}

std::string to_string(const Error& error) {
  return error.path.empty() ? error.message : error.path + ": " + error.message;
}

Error at_path(Error error, std::string_view element) {
  std::string path(element);
  if (!error.path.empty()) {
    if (error.path.front() != '[') {
      path += '.';
    }
    path += error.path;
  }
  error.path = std::move(path);
  return error;
}

}  // namespace muster
