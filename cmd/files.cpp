#include "cmd/files.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace muster::cmd {

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    return Error{.code = errno == ENOENT ? ErrorCode::kNotFound : ErrorCode::kUnavailable,
                 .message = path + ": " + std::strerror(errno)};
  }
  std::string text;
  char block[1 << 16];
  while (in.read(block, sizeof block) || in.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(in.gcount()));
    if (text.size() > limit) {
      return Error{.code = ErrorCode::kTooLarge, .message = path + ": larger than " + std::to_string(limit) + " bytes"};
    }
  }
  return text;
}

Status write_file(const std::string& path, const std::string& content) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << content;
  out.flush();
  if (!out) {
    return Error{.code = ErrorCode::kUnavailable, .message = path + ": " + std::strerror(errno)};
  }
  return {};
}

}  // namespace muster::cmd
