#include "controllers/jobs/workload_name.h"

#include "controllers/jobs/sha1.h"

#include <algorithm>
#include <cctype>

namespace muster::controllers {
namespace {

constexpr std::size_t kHashDigits = 5;

std::string hash_of(const JobIdentity& job) {
  std::string text;
  text.append(job.kind).append("\n").append(job.group).append("\n").append(job.name).append("\n").append(job.uid.str());
  if (!job.extra.empty()) {
    text.append("\n").append(job.extra);
  }
  static constexpr std::string_view kHex = "0123456789abcdef";
  std::string digits;
  for (const std::uint8_t byte : sha1(text)) {
    digits.push_back(kHex[byte >> 4]);
    digits.push_back(kHex[byte & 0xFu]);
  }
  return digits.substr(0, kHashDigits);
}

}  // namespace

std::string workload_name_prefix(std::string_view kind, std::string_view name, std::size_t max_length) {
  std::string prefix(kind);
  std::transform(prefix.begin(), prefix.end(), prefix.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  prefix.append("-").append(name);
  prefix.resize(std::min(prefix.size(), max_length - kHashDigits - 1));
  return prefix.append("-");
}

std::string workload_name(const JobIdentity& job, std::size_t max_length) {
  return workload_name_prefix(job.kind, job.name, max_length) + hash_of(job);
}

}  // namespace muster::controllers
