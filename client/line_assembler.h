// Cuts a byte stream into lines: one watch event a line, however the bytes are split over chunks. Pure; one owner.
#pragma once

#include "base/result.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace muster::client {

class LineAssembler {
 public:
  explicit LineAssembler(std::size_t max_line = std::size_t{16} << 20) : max_line_(max_line) {}

  // Calls `on_line(std::string_view) -> bool` for every line that is complete now, without its newline; empty lines are
  // skipped. Ends early once `on_line` returns false (the rest is dropped). kTooLarge: a line is over the limit.
  template <class OnLine>
  Status feed(std::string_view bytes, OnLine on_line) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      if (rest_.size() + std::min(end, bytes.size()) > max_line_) {
        return Error{.code = ErrorCode::kTooLarge,
                     .message = "a line of the stream exceeds " + std::to_string(max_line_) + " bytes"};
      }
      if (end == std::string_view::npos) {
        rest_.append(bytes);
        return {};
      }
      if (!emit(bytes.substr(0, end), on_line)) {
        return {};
      }
      bytes.remove_prefix(end + 1);
    }
    return {};
  }

 private:
  template <class OnLine>
  bool emit(std::string_view tail, OnLine& on_line) {
    if (rest_.empty()) {
      return tail.empty() || on_line(tail);
    }
    rest_.append(tail);
    const std::string line = std::exchange(rest_, {});
    return on_line(std::string_view(line));
  }

  std::size_t max_line_;
  std::string rest_{};  // of a line that is not complete yet
};

}  // namespace muster::client
