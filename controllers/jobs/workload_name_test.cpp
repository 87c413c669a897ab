#include "controllers/jobs/workload_name.h"

#include "controllers/jobs/sha1.h"

#include <gtest/gtest.h>

namespace muster::controllers {
namespace {

std::string hex(std::string_view text) {
  std::string digits;
  for (const std::uint8_t byte : sha1(text)) {
    constexpr std::string_view kHex = "0123456789abcdef";
    digits.push_back(kHex[byte >> 4]);
    digits.push_back(kHex[byte & 0xFu]);
  }
  return digits;
}

TEST(Sha1, KnownDigests) {
  EXPECT_EQ(hex(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
  EXPECT_EQ(hex("abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
  EXPECT_EQ(hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "84983e441c3bd26ebaae4aa1f95129e5e54670f1");
  EXPECT_EQ(hex(std::string(1000, 'a')), "291e9a6c66994949b57ba5e650361e98fc36b1ba");
}

TEST(WorkloadName, workloads_10_01_EqualsKueues) {
  JobIdentity job{.kind = "Job", .group = "batch", .name = "name", .uid = Uid("uid")};
  EXPECT_EQ(workload_name(job), "job-name-ef3a1");
  job.extra = "1";
  EXPECT_EQ(workload_name(job), "job-name-2514c");
}

TEST(WorkloadName, workloads_10_02_LongNamesAreCut) {
  const std::string name(300, 'n');
  const JobIdentity job{.kind = "Job", .group = "batch", .name = name, .uid = Uid("uid")};
  const std::string full = workload_name(job);
  const std::string brief = workload_name(job, kShortWorkloadName);
  EXPECT_EQ(full.size(), kMaxWorkloadName);
  EXPECT_EQ(brief.size(), kShortWorkloadName);
  EXPECT_EQ(full.substr(full.size() - 5), brief.substr(brief.size() - 5));
  EXPECT_EQ(full.rfind(workload_name_prefix("Job", name), 0), 0u);
}

}  // namespace
}  // namespace muster::controllers
