#include "client/api_error.h"

#include "client/paths.h"

#include <gtest/gtest.h>

namespace muster::client {
namespace {

struct Case {
  std::string name{};
  int status = 0;
  std::string body{};
  Error want{};
};

class ApiErrors : public ::testing::TestWithParam<Case> {};

TEST_P(ApiErrors, AreMapped) {
  const Error got = error_of({.status = GetParam().status, .body = GetParam().body});
  EXPECT_EQ(got.code, GetParam().want.code) << to_string(got.code);
  EXPECT_EQ(got.message, GetParam().want.message);
  EXPECT_EQ(got.path, GetParam().want.path);
}

INSTANTIATE_TEST_SUITE_P(
    Table, ApiErrors,
    ::testing::Values(
        Case{"not_found",
             404,
             R"({"kind":"Status","reason":"NotFound","message":"jobs \"a\" not found","code":404})",
             {.code = ErrorCode::kNotFound, .message = "jobs \"a\" not found"}},
        Case{"exists",
             409,
             R"({"kind":"Status","reason":"AlreadyExists","message":"it is there"})",
             {.code = ErrorCode::kAlreadyExists, .message = "it is there"}},
        Case{"conflict",
             409,
             R"({"kind":"Status","reason":"Conflict","message":"modified"})",
             {.code = ErrorCode::kConflict, .message = "modified"}},
        Case{"invalid_names_the_field",
             422,
             R"({"kind":"Status","reason":"Invalid","message":"bad","details":{"causes":[{"field":"spec.x"}]}})",
             {.code = ErrorCode::kInvalid, .message = "bad", .path = "spec.x"}},
        Case{"gone", 410, R"({"kind":"Status","message":"old"})", {.code = ErrorCode::kGone, .message = "old"}},
        Case{"throttled", 429, "", {.code = ErrorCode::kThrottled, .message = "the API server answered 429"}},
        Case{"plain_text",
             503,
             "try later",
             {.code = ErrorCode::kUnavailable, .message = "the API server answered 503: try later"}},
        Case{"timeout", 504, R"({"kind":"Status","message":"t"})", {.code = ErrorCode::kTimeout, .message = "t"}},
        Case{"no_message",
             403,
             R"({"kind":"Status","reason":"Forbidden"})",
             {.code = ErrorCode::kForbidden, .message = "the API server answered 403 Forbidden"}},
        Case{"odd_types",
             401,
             R"({"kind":"Status","message":7,"details":{"causes":[3]}})",
             {.code = ErrorCode::kUnauthenticated, .message = "the API server answered 401 "}}),
    [](const auto& row) { return row.param.name; });

TEST(RetryAfter, ReadsSecondsOnly) {
  EXPECT_EQ(retry_after({{"retry-after", "3"}}), Duration(3000));
  EXPECT_EQ(retry_after({{"Retry-After", "99999"}}), Duration(300'000));
  EXPECT_EQ(retry_after({{"Retry-After", "-1"}}), std::nullopt);
  EXPECT_EQ(retry_after({{"Retry-After", "Tue, 01 Dec 2026 08:00:00 GMT"}}), std::nullopt);
  EXPECT_EQ(retry_after({}), std::nullopt);
}

TEST(Paths, AreBuiltAndEncoded) {
  const Resource jobs{.group = "batch", .version = "v1", .plural = "jobs"};
  EXPECT_EQ(collection_path(jobs), "/apis/batch/v1/jobs");
  EXPECT_EQ(collection_path(jobs, "team-a"), "/apis/batch/v1/namespaces/team-a/jobs");
  EXPECT_EQ(object_path(jobs, "a", "b/c", "status"), "/apis/batch/v1/namespaces/a/jobs/b%2Fc/status");
  EXPECT_EQ(object_path({.version = "v1", .plural = "nodes"}, "", "n1"), "/api/v1/nodes/n1");
  EXPECT_EQ(with_query("/x", {{"limit", "5"}, {"continue", ""}, {"q", "a b&c"}}), "/x?limit=5&q=a%20b%26c");
}

}  // namespace
}  // namespace muster::client
