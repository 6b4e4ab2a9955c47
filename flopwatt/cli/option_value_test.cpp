#include "flopwatt/cli/option_value.hpp"

#include <gtest/gtest.h>

#include "flopwatt/cli/suggest.hpp"

namespace flopwatt::cli {
namespace {

TEST(ReadWhole, TakesDigitsAndExactPowers) {
  EXPECT_EQ(read_whole("1", {}).value(), 1);
  EXPECT_EQ(read_whole("1e9", {}).value(), 1'000'000'000);
  EXPECT_EQ(read_whole("2.5e3", {}).value(), 2500);
  EXPECT_EQ(read_whole("0", {.min = 0}).value(), 0);
  EXPECT_EQ(read_whole("15000000000000", {.min = 1, .max = kMaxTokens}).value(), 15'000'000'000'000);
}

TEST(ReadWhole, RefusesEverythingElse) {
  for (const char* word : {"",
                           " ",
                           "0",
                           "-1",
                           "1.5",
                           "1e-3",
                           "nan",
                           "inf",
                           "-inf",
                           "0x10",
                           "1_000",
                           "1,000",
                           "12 ",
                           " 12",
                           "+1",
                           "1e999",
                           "99999999999999999999",
                           "1000000000000",
                           "batch",
                           "١"}) {
    const auto read = read_whole(word, {});
    ASSERT_FALSE(read) << word;
    EXPECT_EQ(read.error().code, Errc::usage) << word;
  }
}

TEST(ReadReal, TakesFiniteNumbersInRange) {
  EXPECT_DOUBLE_EQ(read_real("0.354", {.min = 0, .max = 1}).value(), 0.354);
  EXPECT_DOUBLE_EQ(read_real("67.19685905089818", {}).value(), 67.19685905089818);
  EXPECT_DOUBLE_EQ(read_real("0", {.min = 0, .max = 1, .min_included = true}).value(), 0);
}

TEST(ReadReal, RefusesEverythingElse) {
  for (const char* word :
       {"", "0", "-0.1", "1.1", "nan", "NaN", "inf", "Infinity", "-inf", "1e999", "0,5", "50%", "0.5x", "--"}) {
    EXPECT_FALSE(read_real(word, {.min = 0, .max = 1})) << word;
  }
}

TEST(ReadWholeList, TakesLengthsSeparatedByCommas) {
  EXPECT_EQ(read_whole_list("1024,1024,2048", {}).value(), (std::vector<std::int64_t>{1024, 1024, 2048}));
  for (const char* word : {"", ",", "1,", ",1", "1,,2", "1;2", "1,0"}) EXPECT_FALSE(read_whole_list(word, {})) << word;
}

TEST(ReadChoice, NamesWhatThereIs) {
  constexpr std::string_view kNames[] = {"full", "causal"};
  EXPECT_EQ(read_choice("Causal", kNames).value(), 1U);
  const auto wrong = read_choice("half", kNames);
  ASSERT_FALSE(wrong);
  EXPECT_EQ(wrong.error().remedy, "use one of full, causal");
}

TEST(Suggest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> verbs{"count", "devices", "mfu", "train"};
  EXPECT_EQ(suggest("cuont", verbs), "count");
  EXPECT_EQ(suggest("device", verbs), "devices");
  EXPECT_EQ(suggest("TRIAN", verbs), "train");
  EXPECT_EQ(suggest("mfu2", verbs), "mfu");
  EXPECT_FALSE(suggest("serve", verbs).has_value());
  EXPECT_FALSE(suggest("", verbs).has_value());
  EXPECT_FALSE(suggest(std::string(100'000, 'x'), verbs).has_value());
}

}  // namespace
}  // namespace flopwatt::cli
