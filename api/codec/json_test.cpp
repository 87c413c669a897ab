#include "api/codec/json.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace muster::api {
namespace {

std::string nested(int depth) {
  return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
}

TEST(ParseJson, ReadsWhatKubernetesSends) {
  const Result<Json> got = parse_json(R"({"a":[1,-2,1.5,true,null,"xé"],"b":{}})");
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(dump_json(*got), R"({"a":[1,-2,1.5,true,null,"xé"],"b":{}})");
}

TEST(ParseJson, LastOfDuplicateKeysWins) {
  EXPECT_EQ(dump_json(*parse_json(R"({"a":1,"a":2})")), R"({"a":2})");
}

struct Refusal {
  std::string name{};
  std::string text{};
  ErrorCode code = ErrorCode::kInvalid;
};

class RefusedJson : public ::testing::TestWithParam<Refusal> {};

TEST_P(RefusedJson, IsAnError) {
  const Result<Json> got = parse_json(GetParam().text, {.bytes = 4000, .depth = 128});
  ASSERT_FALSE(got.ok());
  EXPECT_EQ(got.error().code, GetParam().code);
  EXPECT_LT(got.error().message.size(), 400u);
}

INSTANTIATE_TEST_SUITE_P(Table, RefusedJson,
                         ::testing::Values(Refusal{"empty", ""}, Refusal{"truncated", R"({"a":)"},
                                           Refusal{"trailing", "{} {}"}, Refusal{"single_quotes", "{'a':1}"},
                                           Refusal{"comment", "{} // x"}, Refusal{"huge_number", "1E400"},
                                           Refusal{"bad_utf8", "\"\xff\""},
                                           Refusal{"long_token", "\"" + std::string(3000, 'x')},
                                           Refusal{"unbalanced", std::string(100, ']') + std::string(100, '[')},
                                           Refusal{"deep_lists", nested(129), ErrorCode::kTooLarge},
                                           Refusal{"deep_and_unclosed", std::string(3000, '['), ErrorCode::kTooLarge},
                                           Refusal{"deep_after_strings",
                                                   R"(["\"",")" + std::string("\",") + nested(128) + "]",
                                                   ErrorCode::kTooLarge},
                                           Refusal{"too_long", std::string(5000, ' '), ErrorCode::kTooLarge}),
                         [](const auto& row) { return row.param.name; });

TEST(ParseJson, AcceptsTheDepthLimitItself) {
  EXPECT_TRUE(parse_json(nested(128)).ok());
}

TEST(ParseJson, DoesNotCountBracketsInStrings) {
  EXPECT_TRUE(parse_json("[\"" + std::string(1000, '[') + "\\\"" + std::string(1000, '{') + "\"]").ok());
}

TEST(DumpJson, ReplacesInvalidUtf8) {
  EXPECT_EQ(dump_json(Json("a\xff")), "\"a\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace muster::api
