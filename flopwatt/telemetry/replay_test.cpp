#include "flopwatt/telemetry/replay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "flopwatt/telemetry/sampler.hpp"
#include "flopwatt/telemetry/testing/scripted_tree.hpp"
#include "flopwatt/telemetry/trace_csv.hpp"

namespace flopwatt::telemetry {
namespace {

using std::chrono::seconds;
using units::joule;
using units::watt;

/// 100 W for ten seconds, then 300 W for ten: 0, 1000, 4000 J.
std::vector<Trace> recording() {
  Trace trace{{.source = "nvml", .uuid = "GPU-1"}};
  const double watts[] = {100, 100, 300};
  const double joules[] = {0, 1000, 4000};
  for (int i = 0; i < 3; ++i) {
    Snapshot snapshot;
    snapshot.time = seconds{1000 + 10 * i};
    snapshot.power = {watts[i] * watt, PowerKind::instant, Scope::device};
    snapshot.energy = joules[i] * joule;
    EXPECT_TRUE(trace.add(snapshot));
  }
  return {trace};
}

class Replay : public ::testing::Test {
 protected:
  std::unique_ptr<Source> play(bool repeat = false, double speed = 1) {
    OpenedSource source = replay(recording(), {.repeat = repeat, .speed = speed, .clock = [this] { return now; }});
    EXPECT_TRUE(source);
    return std::move(*source);
  }
  SteadyTime now{seconds{50}};
};

TEST_F(Replay, SaysThatItIsNoMeasurement) {
  const auto source = play();
  EXPECT_TRUE(source->recorded());
  EXPECT_FALSE(source->devices()[0].notes.empty());
}

TEST_F(Replay, PlaysFromTheMomentItIsOpened) {
  const auto source = play();
  EXPECT_DOUBLE_EQ(source->read(0).power.value->in(watt), 100);
  EXPECT_EQ(source->read(0).time, now);
  now += seconds{15};
  EXPECT_DOUBLE_EQ(source->read(0).power.value->in(watt), 200);  // half way from 100 to 300
  EXPECT_DOUBLE_EQ(source->read(0).energy->in(joule), 2500);
  now += seconds{10};
  EXPECT_TRUE(source->read(0).power.value.absent_for(Absence::stale));
}

TEST_F(Replay, RepeatsWithCountersThatGoOn) {
  const auto source = play(true);
  now += seconds{25};  // 5 s into the second round
  EXPECT_DOUBLE_EQ(source->read(0).energy->in(joule), 4500);
  EXPECT_DOUBLE_EQ(source->read(0).power.value->in(watt), 100);
}

TEST_F(Replay, PlaysFaster) {
  const auto source = play(false, 10);
  now += seconds{1};
  EXPECT_DOUBLE_EQ(source->read(0).energy->in(joule), 1000);
}

TEST_F(Replay, RefusesWhatIsNoRecording) {
  EXPECT_EQ(replay({}).error().reason, Absence::no_samples);
  for (const double speed : {0.0, -1.0, 1e300, std::nan("")}) {
    EXPECT_EQ(replay(recording(), {.speed = speed}).error().reason, Absence::garbage) << speed;
  }
  EXPECT_EQ(open_recorded("/nonexistent.csv").error().reason, Absence::not_present);
  const testing::ScriptedTree tree;
  tree.write("bad.csv", "a,b\n1,2\n");
  EXPECT_EQ(open_recorded(tree.path("bad.csv")).error().reason, Absence::garbage);
}

TEST_F(Replay, AFileIsASource) {
  const testing::ScriptedTree tree;
  tree.write("run.csv", write_trace_csv(recording()));
  OpenedSource source = open_recorded(tree.path("run.csv"));
  ASSERT_TRUE(source);
  std::vector<std::unique_ptr<Source>> sources;
  sources.push_back(std::move(*source));
  Sampler sampler{std::move(sources)};
  EXPECT_NEAR(sampler.read_now()[0].power.value->in(watt), 100, 1e-9);
  EXPECT_TRUE(sampler.recorded(0));
  EXPECT_TRUE(sampler.energy_over(0, {}, seconds{1}).has(EnergyFlag::recorded));
}

}  // namespace
}  // namespace flopwatt::telemetry
