// Invariant checks. A failed MUSTER_CHECK is a bug in Muster itself and ends the process in every build;
// input from outside (objects, configuration, replies) must never reach one: it becomes an Error (base/result.h).
#pragma once

#include <sstream>
#include <string>

namespace muster {

// Ends the process with `message` on stderr. Never returns.
[[noreturn]] void check_failed(const char* file, int line, const char* condition, const std::string& message);

namespace internal {

// Collects the streamed message of a failing check and aborts when the full expression ends.
class CheckMessage {
 public:
  CheckMessage(const char* file, int line, const char* condition)
      : file_(file), line_(line), condition_(condition) {}
  CheckMessage(const CheckMessage&) = delete;
  CheckMessage& operator=(const CheckMessage&) = delete;
  [[noreturn]] ~CheckMessage() { check_failed(file_, line_, condition_, stream_.str()); }

  template <class T>
  CheckMessage& operator<<(const T& value) {
    stream_ << value;
    return *this;
  }

 private:
  const char* file_;
  int line_;
  const char* condition_;
  std::ostringstream stream_{};
};

}  // namespace internal
}  // namespace muster

#define MUSTER_CHECK(condition) \
  if (condition) [[likely]] {   \
  } else                        \
    ::muster::internal::CheckMessage(__FILE__, __LINE__, #condition)

#ifdef NDEBUG
#define MUSTER_DCHECK(condition) MUSTER_CHECK(true || (condition))
#else
#define MUSTER_DCHECK(condition) MUSTER_CHECK(condition)
#endif
