#include "flopwatt/sweep/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace flopwatt::sweep {
namespace {

Plan plan() {
  Plan plan;
  plan.where = "plan.toml";
  plan.models = {"a.json", "b.json"};
  plan.dtypes = {units::Precision::float32, units::Precision::bfloat16};
  plan.attention = {workload::Attention::sdpa};
  plan.batches = {1, 2, 4};
  plan.sequences = {32, 64};
  plan.accumulations = {1};
  plan.recomputes = {workload::Recompute::none};
  return plan;
}
std::vector<Model> models() { return {{"a.json", "a", "{}", ""}, {"b.json", "b", "{ }", ""}}; }

TEST(Configuration, CrossProductHasEveryPointOnce) {
  const auto all = expand(plan(), models());
  ASSERT_TRUE(all);
  EXPECT_EQ(all->size(), 2U * 2 * 3 * 2);
  std::set<std::string> ids;
  for (const Configuration& c : *all) ids.insert(c.id());
  EXPECT_EQ(ids.size(), all->size());
}

TEST(Configuration, IdentityDoesNotDependOnThePlansOrder) {
  Plan turned = plan();
  std::reverse(turned.dtypes.begin(), turned.dtypes.end());
  std::reverse(turned.batches.begin(), turned.batches.end());
  turned.seed = 9;
  turned.protocol.repeats = 7;
  turned.device = plan().device;
  const auto ids = [](const Plan& p) {
    std::set<std::string> out;
    const auto all = *expand(p, models());
    for (const Configuration& c : all) out.insert(c.id());
    return out;
  };
  EXPECT_EQ(ids(plan()), ids(turned));
}

TEST(Configuration, EverythingThatChangesTheWorkChangesTheIdentity) {
  const Configuration base{.model = "a", .config_sha256 = "0", .device_kind = "cpu"};
  std::vector<Configuration> others(12, base);
  others[0].model = "b";
  others[1].config_sha256 = "1";
  others[2].weights = "w";
  others[3].dtype = units::Precision::bfloat16;
  others[4].attention = workload::Attention::eager;
  others[5].batch = 2;
  others[6].sequence = 2;
  others[7].accumulation = 2;
  others[8].recompute = workload::Recompute::full;
  others[9].padding = workload::Padding::none;
  others[10].device_kind = "cuda";
  others[11].learning_rate = 1;
  std::set<std::string> ids{base.id()};
  for (const Configuration& c : others) ids.insert(c.id());
  EXPECT_EQ(ids.size(), 13U);
}

/// An identity is what stores of different versions and machines share: it must not change.
/// sha256sum of the line below, made with coreutils.
TEST(Configuration, IdentityIsPinned) {
  const Configuration c{.model = "a",
                        .config_sha256 = "00",
                        .batch = 2,
                        .sequence = 64,
                        .device_kind = "cpu",
                        .learning_rate = 1e-4,
                        .weight_decay = 0.01};
  EXPECT_EQ(c.canonical(),
            R"({"identity":1,"model":"a","config_sha256":"00","weights":"","dtype":"float32","attention":"sdpa",)"
            R"("batch":2,"sequence":64,"pad":"full","recompute":"none","accumulation":1,"learning_rate":1e-04,)"
            R"("weight_decay":0.01,"device":"cpu"})");
  EXPECT_EQ(c.id(), "b0a4859a8b0f242a");
}

TEST(Configuration, CanonicalTextIsReadBack) {
  const auto all = expand(plan(), models());
  for (const Configuration& c : *all) {
    const auto again = read_configuration(c.canonical(), "store");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(*again, c);
  }
  for (const char* ugly : {"", "{}", "[]", "{\"identity\":2}"}) EXPECT_FALSE(read_configuration(ugly, "store"));
}

TEST(Configuration, TwoModelsOfOneNameAreRefused) {
  const auto all = expand(plan(), std::vector<Model>{{"x/a.json", "a", "{}", ""}, {"y/a.json", "a", "{ }", ""}});
  ASSERT_FALSE(all);
  EXPECT_EQ(all.error().code, Errc::bad_data);
}

TEST(Shard, EveryConfigurationIsInExactlyOne) {
  const auto all = *expand(plan(), models());
  for (const std::int64_t count : {1, 2, 3, 7}) {
    for (const Configuration& c : all) {
      int holders = 0;
      for (std::int64_t i = 1; i <= count; ++i) holders += Shard{i, count}.holds(c.id()) ? 1 : 0;
      EXPECT_EQ(holders, 1);
    }
  }
}

TEST(Shard, IsReadAsPartOfWhole) {
  const auto shard = parse_shard("2/4");
  ASSERT_TRUE(shard);
  EXPECT_EQ(shard->index, 2);
  EXPECT_EQ(shard->count, 4);
  for (const char* ugly : {"", "/", "2", "2/", "/4", "0/4", "5/4", "-1/4", "1/0", "1.0/4", "1/4 ", "a/b"}) {
    const auto wrong = parse_shard(ugly);
    ASSERT_FALSE(wrong) << ugly;
    EXPECT_EQ(wrong.error().code, Errc::usage);
  }
}

TEST(Schedule, RepeatsAreInterleavedInRandomOrder) {
  const auto all = *expand(plan(), models());
  const auto order = schedule(all, 4, 1);
  ASSERT_EQ(order.size(), 4 * all.size());
  for (std::size_t round = 0; round < 4; ++round) {  // each round holds every configuration once
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Repeat& repeat = order[round * all.size() + i];
      EXPECT_EQ(repeat.number, static_cast<std::int64_t>(round + 1));
      seen.insert(repeat.configuration);
    }
    EXPECT_EQ(seen.size(), all.size());
  }
  const auto round = [&](std::size_t number) {
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < all.size(); ++i) out.push_back(order[number * all.size() + i].configuration);
    return out;
  };
  EXPECT_NE(round(0), round(1));  // by chance alike: 1 in 24!
  EXPECT_EQ(order, schedule(all, 4, 1));
  EXPECT_NE(order, schedule(all, 4, 2));
}

TEST(Schedule, AShardKeepsTheOrderOfTheWhole) {
  const auto all = *expand(plan(), models());
  std::vector<std::string> whole;
  for (const Repeat& repeat : schedule(all, 2, 5)) {
    const std::string id = all[repeat.configuration].id();
    if (Shard{1, 2}.holds(id)) whole.push_back(id);
  }
  std::vector<Configuration> part;
  for (const Configuration& c : all) {
    if (Shard{1, 2}.holds(c.id())) part.push_back(c);
  }
  std::vector<std::string> alone;
  for (const Repeat& repeat : schedule(part, 2, 5)) alone.push_back(part[repeat.configuration].id());
  EXPECT_EQ(whole, alone);
}

}  // namespace
}  // namespace flopwatt::sweep
