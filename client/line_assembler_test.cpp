#include "client/line_assembler.h"

#include <gtest/gtest.h>

namespace muster::client {
namespace {

struct Case {
  std::string name{};
  std::vector<std::string> chunks{};
  std::vector<std::string> lines{};
};

class Lines : public ::testing::TestWithParam<Case> {};

TEST_P(Lines, AreCutWhereverTheChunksEnd) {
  LineAssembler assembler;
  std::vector<std::string> lines;
  for (const std::string& chunk : GetParam().chunks) {
    ASSERT_TRUE(assembler
                    .feed(chunk,
                          [&](std::string_view line) {
                            lines.emplace_back(line);
                            return true;
                          })
                    .ok());
  }
  EXPECT_EQ(lines, GetParam().lines);
}

INSTANTIATE_TEST_SUITE_P(Table, Lines,
                         ::testing::Values(Case{"one_line", {"abc\n"}, {"abc"}},
                                           Case{"split_in_three", {"a", "b", "c\n"}, {"abc"}},
                                           Case{"newline_of_its_own", {"abc", "\n"}, {"abc"}},
                                           Case{"several_in_one_chunk", {"a\nb\nc\n"}, {"a", "b", "c"}},
                                           Case{"end_and_beginning", {"a\nb", "c\nd\n"}, {"a", "bc", "d"}},
                                           Case{"empty_lines_are_skipped", {"\n\na\n\n"}, {"a"}},
                                           Case{"unfinished_line_waits", {"a\nbc"}, {"a"}}),
                         [](const auto& row) { return row.param.name; });

TEST(LineAssembler, RefusesALineOverItsLimit) {
  const auto take_all = [](std::string_view) { return true; };
  LineAssembler assembler(8);
  EXPECT_TRUE(assembler.feed("12345678\n", take_all).ok());
  EXPECT_TRUE(assembler.feed("1234", take_all).ok());
  EXPECT_TRUE(assembler.feed("5678", take_all).ok());
  EXPECT_EQ(assembler.feed("9", take_all).error().code, ErrorCode::kTooLarge);
}

TEST(LineAssembler, StopsWhenToldTo) {
  LineAssembler assembler;
  int seen = 0;
  EXPECT_TRUE(assembler.feed("a\nb\nc\n", [&](std::string_view) { return ++seen < 2; }).ok());
  EXPECT_EQ(seen, 2);
}

}  // namespace
}  // namespace muster::client
