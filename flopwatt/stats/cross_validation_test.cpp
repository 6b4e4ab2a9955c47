#include "flopwatt/stats/cross_validation.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace flopwatt::stats {
namespace {

using testing::ElementsAre;

TEST(StatsCrossValidation, GroupsAreNumberedInOrderOfAppearance) {
  const std::vector<std::string> labels{"b", "a", "b", "", "a"};
  const GroupIndex index = index_groups(labels);
  EXPECT_THAT(index.of_row, ElementsAre(0, 1, 0, 2, 1));
  EXPECT_THAT(index.names, ElementsAre("b", "a", ""));
  EXPECT_TRUE(index_groups({}).names.empty());
}

TEST(StatsCrossValidation, LeavesEachGroupOutOnce) {
  const std::vector<std::size_t> group{4, 1, 4, 7, 1, 4};
  const std::vector<Fold> folds = leave_one_group_out(group).value();
  ASSERT_EQ(folds.size(), 3U);
  EXPECT_EQ(folds[0].group, 1U);
  EXPECT_THAT(folds[0].test, ElementsAre(1, 4));
  EXPECT_THAT(folds[0].train, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(folds[1].test, ElementsAre(0, 2, 5));
  EXPECT_THAT(folds[2].test, ElementsAre(3));
}

TEST(StatsCrossValidation, RepeatsMustNotStraddle) {
  const std::vector<std::size_t> group{0, 0, 1, 1};
  EXPECT_EQ(leave_one_group_out(group, std::vector<std::size_t>{5, 5, 6, 7}).value().size(), 2U);
  const Error error = leave_one_group_out(group, std::vector<std::size_t>{5, 6, 6, 7}).error();
  EXPECT_EQ(error.code, Errc::bad_data);
  EXPECT_NE(error.what.find("rows 1 and 2"), std::string::npos) << error.what;
}

TEST(StatsCrossValidation, KFoldsPartitionTheRowsAndKeepGroupsWhole) {
  std::vector<std::size_t> group;
  for (std::size_t i = 0; i < 60; ++i) group.push_back(i * 7 % 11);
  const std::vector<Fold> folds = grouped_k_folds(group, 4, 3).value();
  std::multiset<std::size_t> tested;
  for (const Fold& fold : folds) {
    EXPECT_EQ(fold.train.size() + fold.test.size(), 60U);
    EXPECT_FALSE(fold.test.empty());
    std::set<std::size_t> test_groups;
    for (const std::size_t row : fold.test) {
      tested.insert(row);
      test_groups.insert(group[row]);
    }
    // 11 groups in 4 folds: 3, 3, 3 and 2.
    EXPECT_GE(test_groups.size(), 2U);
    EXPECT_LE(test_groups.size(), 3U);
    for (const std::size_t row : fold.train) EXPECT_FALSE(test_groups.contains(group[row]));
  }
  EXPECT_EQ(tested.size(), 60U);
  EXPECT_EQ(std::set<std::size_t>(tested.begin(), tested.end()).size(), 60U);
  EXPECT_EQ(grouped_k_folds(group, 4, 3).value()[0].test, folds[0].test);
  EXPECT_NE(grouped_k_folds(group, 4, 4).value()[0].test, folds[0].test);
}

TEST(StatsCrossValidation, TooFewGroupsIsAnError) {
  EXPECT_EQ(leave_one_group_out({}).error().code, Errc::bad_data);
  const std::vector<std::size_t> one{3, 3, 3};
  EXPECT_EQ(leave_one_group_out(one).error().code, Errc::bad_data);
  EXPECT_EQ(leave_one_group_out(one, std::vector<std::size_t>{1}).error().code, Errc::bad_data);
  EXPECT_EQ(grouped_k_folds(one, 2, 1).error().code, Errc::bad_data);
  EXPECT_EQ(grouped_k_folds(one, 1, 1).error().code, Errc::usage);
}

}  // namespace
}  // namespace flopwatt::stats
