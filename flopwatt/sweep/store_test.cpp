#include "flopwatt/sweep/store.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "flopwatt/stats/random.hpp"
#include "flopwatt/sweep/export.hpp"
#include "flopwatt/sweep/merge.hpp"
#include "flopwatt/sweep/summary.hpp"

namespace flopwatt::sweep {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class StoreTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "flopwatt-store-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }

  fs::path folder_;
};

Configuration configuration(std::int64_t batch = 1) {
  return {.model = "tiny", .config_sha256 = "00", .batch = batch, .sequence = 64, .device_kind = "cpu"};
}

RunRecord run(const std::string& uid, std::int64_t repeat = 1, std::int64_t batch = 1) {
  RunRecord out;
  out.uid = uid;
  out.configuration = configuration(batch).id();
  out.repeat = repeat;
  out.host = "here";
  out.step_flops = units::Count{static_cast<__int128>(1) << 100};
  return out;
}

/// Every figure depends on the number, so that a row of another one is seen.
SampleRecord sample(std::int64_t number) {
  SampleRecord out;
  out.number = number;
  out.steps = 3 * number;
  out.tokens = 7 * number;
  out.device_seconds = 0.1 * static_cast<double>(number);
  out.mfu = 1.0 / static_cast<double>(number);
  if (number % 2 == 0) out.power_watts = 100.0 + static_cast<double>(number);
  if (number % 2 != 0) out.power_missing = "no_samples";
  return out;
}

Store create(const std::string& file, std::int64_t samples) {
  auto store = Store::open(file, Store::Mode::resume);
  EXPECT_TRUE(store) << store.error().message();
  EXPECT_TRUE(store->add_plan("plan", "protocol"));
  EXPECT_TRUE(store->add(configuration()));
  RunRecord first = run("first");
  EXPECT_TRUE(store->begin(first));
  for (std::int64_t i = 1; i <= samples; ++i) EXPECT_TRUE(store->add(first.id, sample(i)));
  return *std::move(store);
}

std::string slurp(const std::string& file) {
  std::ifstream in{file, std::ios::binary};
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}
void spit(const std::string& file, const std::string& bytes) {
  std::ofstream{file, std::ios::binary | std::ios::trunc} << bytes;
}

TEST_F(StoreTest, KeepsWhatItIsGiven) {
  {
    Store store = create(path("a.db"), 3);
    RunRecord changed = store.runs()->front();
    changed.state = RunState::finished;
    changed.reason = reason::kConverged;
    changed.bandwidth_bytes_per_second = 1e9;
    EXPECT_TRUE(store.update(changed));
    EXPECT_TRUE(store.add(IdleRecord{.host = "here", .seconds = 1, .power_watts = 12.5}));
    EXPECT_TRUE(store.add(CeilingRecord{.host = "here", .dtype = "float32", .flops_per_second = 1e11}));
  }
  auto store = Store::open(path("a.db"), Store::Mode::read);
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_EQ(*store->protocol(), "protocol");
  ASSERT_EQ(store->configurations()->size(), 1U);
  EXPECT_EQ(store->configurations()->front().configuration, configuration());
  const auto runs = store->runs();
  ASSERT_TRUE(runs);
  ASSERT_EQ(runs->size(), 1U);
  EXPECT_EQ(runs->front().state, RunState::finished);
  EXPECT_EQ(runs->front().step_flops, units::Count{static_cast<__int128>(1) << 100});
  EXPECT_EQ(runs->front().bandwidth_bytes_per_second, 1e9);
  const auto samples = store->samples(runs->front().id);
  ASSERT_TRUE(samples);
  EXPECT_THAT(*samples, testing::ElementsAre(sample(1), sample(2), sample(3)));
  EXPECT_EQ(store->idle()->front().power_watts, 12.5);
  EXPECT_EQ(store->ceilings()->front().flops_per_second, 1e11);
}

TEST_F(StoreTest, AnotherProtocolIsRefused) {
  Store store = create(path("a.db"), 1);
  EXPECT_TRUE(store.add_plan("more models", "protocol"));
  const auto other = store.add_plan("plan", "other");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, Errc::bad_data);
}

TEST_F(StoreTest, OneSweepWritesOthersRead) {
  const Store writing = create(path("a.db"), 1);
  const auto second = Store::open(path("a.db"), Store::Mode::resume);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Errc::unavailable);
  auto reading = Store::open(path("a.db"), Store::Mode::read);
  ASSERT_TRUE(reading) << reading.error().message();
  EXPECT_EQ(reading->samples(1)->size(), 1U);
}

TEST_F(StoreTest, WhatIsNoStoreIsRefusedByName) {
  spit(path("empty.db"), "");
  spit(path("text.db"), std::string(4096, 'x'));
  fs::create_directory(path("folder"));
  {
    auto other = Database::open(path("other.db"), Database::Mode::create);
    ASSERT_TRUE(other);
    ASSERT_TRUE(other->execute("CREATE TABLE t(a)"));
  }
  {
    {
      ASSERT_TRUE(create(path("newer.db"), 1).database().execute("PRAGMA user_version=99"));
    }
  }
  for (const char* file : {"missing.db", "empty.db", "text.db", "folder", "other.db", "newer.db"}) {
    const auto store = Store::open(path(file), Store::Mode::read);
    ASSERT_FALSE(store) << file;
    EXPECT_EQ(store.error().code, Errc::bad_data) << file;
    EXPECT_EQ(store.error().where, path(file));
  }
  EXPECT_FALSE(fs::exists(path("missing.db")));  // reading makes no file
}

/// Opens as a prefix of what was there, or is refused by name.  Returns whether it opened.
bool opens_as_a_prefix(const std::string& file, std::int64_t samples) {
  auto store = Store::open(file, Store::Mode::read);
  if (!store) {
    EXPECT_EQ(store.error().code, Errc::bad_data);
    EXPECT_EQ(store.error().where, file);
    return false;
  }
  const auto runs = store->runs();
  EXPECT_TRUE(runs) << runs.error().message();
  if (!runs || runs->empty()) return true;
  const auto found = store->samples(runs->front().id);
  EXPECT_TRUE(found);
  EXPECT_LE(found->size(), static_cast<std::size_t>(samples));
  for (std::size_t i = 0; i < found->size(); ++i) EXPECT_EQ((*found)[i], sample(static_cast<std::int64_t>(i) + 1));
  return true;
}

TEST_F(StoreTest, AFileCutAtAnyByteOpensOrIsRefused) {
  {
    EXPECT_TRUE(create(path("whole.db"), 200).checkpoint());
  }
  const std::string bytes = slurp(path("whole.db"));
  ASSERT_GT(bytes.size(), 20'000U);
  stats::Random random{1};
  std::vector<std::size_t> cuts{0, 1, 15, 16, 17, 99, 100, 101, bytes.size() - 1};
  for (std::size_t page = 4096; page < bytes.size(); page += 4096) {
    cuts.insert(cuts.end(), {page - 1, page, page + 1});
  }
  for (int i = 0; i < 100; ++i) cuts.push_back(random.below(static_cast<std::uint32_t>(bytes.size())));
  for (const std::size_t cut : cuts) {
    SCOPED_TRACE(cut);
    spit(path("cut.db"), bytes.substr(0, cut));
    EXPECT_FALSE(opens_as_a_prefix(path("cut.db"), 200));  // no page is spare in this file
    for (const char* side : {"cut.db-wal", "cut.db-shm"}) fs::remove(path(side));
  }
  EXPECT_TRUE(opens_as_a_prefix(path("whole.db"), 200));
}

TEST_F(StoreTest, FiguresThatNoSweepWritesAreRefused) {
  for (const char* change :
       {"UPDATE sample SET device_seconds=0", "UPDATE sample SET device_seconds=1e-320", "UPDATE sample SET mfu=9e999",
        "UPDATE sample SET tokens=-1", "UPDATE sample SET steps='many'", "UPDATE sample SET power_watts=9e999",
        "UPDATE run SET state='asleep'", "UPDATE run SET step_flops='12e3'", "UPDATE run SET step_flops=''",
        "UPDATE sample SET mfu=1e308", "UPDATE sample SET power_watts=-1e308", "UPDATE sample SET energy_joules='much'",
        "UPDATE sample SET begin_unix_seconds='now'", "UPDATE sample SET wall_seconds=-1",
        "UPDATE run SET peak_flops_per_second=-1", "UPDATE configuration SET canonical='{'"}) {
    SCOPED_TRACE(change);
    fs::remove(path("a.db"));
    Store store = create(path("a.db"), 2);
    RunRecord done = store.runs()->front();
    done.state = RunState::finished;
    done.peak_flops_per_second = 1e11;
    ASSERT_TRUE(store.update(done));
    ASSERT_TRUE(summarize(store));
    ASSERT_TRUE(store.database().execute(change));
    const auto summaries = summarize(store);
    ASSERT_FALSE(summaries);
    EXPECT_EQ(summaries.error().code, Errc::bad_data);
    EXPECT_THAT(summaries.error().where, testing::StartsWith(path("a.db")));
  }
}

TEST_F(StoreTest, ADamagedFigureIsNamedByRunAndColumn) {
  Store store = create(path("a.db"), 2);
  ASSERT_TRUE(store.database().execute("UPDATE sample SET mfu=1e308 WHERE number=2"));
  const auto samples = store.samples(1);
  ASSERT_FALSE(samples);
  EXPECT_EQ(samples.error().what, "run 1, sample 2: column mfu holds what no sweep writes");
  ASSERT_TRUE(store.database().execute("UPDATE run SET threads='x'"));
  const auto runs = store.runs();
  ASSERT_FALSE(runs);
  EXPECT_EQ(runs.error().what, "run 1: column threads holds what no sweep writes");
}

TEST_F(StoreTest, AnExportOfADamagedStoreIsRefused) {
  for (const char* change : {"UPDATE setting SET value='x'", "UPDATE run SET peak_flops_per_second=0",
                             "UPDATE run SET peak_flops_per_second=1e-300", "UPDATE sample SET mfu=1e308"}) {
    SCOPED_TRACE(change);
    fs::remove(path("a.db"));
    Store store = create(path("a.db"), 2);
    RunRecord done = store.runs()->front();
    done.state = RunState::finished;
    done.peak_flops_per_second = 1e11;
    ASSERT_TRUE(store.update(done));
    ASSERT_TRUE(store.database().execute("UPDATE setting SET value='{}'"));
    ASSERT_TRUE(store.database().execute(change));
    const auto exported = export_csv(store);
    ASSERT_FALSE(exported);
    EXPECT_EQ(exported.error().code, Errc::bad_data) << exported.error().message();
  }
}

TEST_F(StoreTest, AFullDiskIsExitCodeThree) {
  Store store = create(path("a.db"), 1);
  ASSERT_TRUE(store.database().execute("PRAGMA max_page_count=1"));  // no page more than there are: SQLITE_FULL
  Result<void> added;
  for (std::int64_t i = 2; added && i < 10'000; ++i) added = store.add(1, sample(i));
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Errc::bad_data);
  EXPECT_EQ(added.error().what, "the disk is full");
  EXPECT_TRUE(store.samples(1));  // what is there can be read
}

/// In a child that is not root, which may do everything: a store of mode 444 in a folder of mode 555.
TEST_F(StoreTest, AStoreThatCannotBeWrittenIsRead) {
  {
    Store store = create(path("a %?#.db"), 3);
    ASSERT_TRUE(store.checkpoint());
  }
  const auto read_as_nobody = [&] {
    const pid_t child = ::fork();
    if (child == 0) {
      if (::geteuid() == 0 && ::seteuid(65534) != 0) ::_exit(9);
      auto store = Store::open(path("a %?#.db"), Store::Mode::read);
      if (!store) ::_exit(store.error().code == Errc::bad_data ? 3 : 1);
      const auto samples = store->samples(1);
      ::_exit(samples && samples->size() == 3 ? 0 : 2);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  };
  fs::permissions(path("a %?#.db"), fs::perms{0444});
  fs::permissions(folder_, fs::perms{0555});
  EXPECT_EQ(read_as_nobody(), 0);
  // A log that cannot be read there may hold samples: leaving them out would be a wrong answer.
  fs::permissions(folder_, fs::perms{0755});
  spit(path("a %?#.db-wal"), "frames");
  fs::permissions(folder_, fs::perms{0555});
  EXPECT_EQ(read_as_nobody(), 3);
  fs::permissions(folder_, fs::perms{0755});
}

/// Three samples of unlike length; one without energy.  Device time 1 + 3 + 4 = 8 s, tokens 100 + 900 + 400 = 1400,
/// steps 1 + 9 + 4 = 14: 175 tokens/s (the mean of 100, 300 and 100 would say 166.7), 8/14 s a step.  MFU
/// (0.1·1 + 0.3·3 + 0.1·4) / 8 = 0.175.  Energy 50 + 450 = 500 J in 2 + 3 = 5 s and 1000 tokens: 100 W, 0.5 J/token.
TEST_F(StoreTest, SummariesAreTotalsOverTotals) {
  Store store = create(path("a.db"), 0);
  const auto add = [&](std::int64_t number, double seconds, std::int64_t tokens, double mfu, double wall,
                       std::optional<double> energy) {
    SampleRecord one;
    one.number = number;
    one.steps = tokens / 100;
    one.tokens = tokens;
    one.device_seconds = seconds;
    one.wall_seconds = wall;
    one.mfu = one.hfu = mfu;
    if (number > 1) one.mbu = mfu;
    if (energy) one.power_watts = *energy / wall;
    one.energy_joules = energy;
    EXPECT_TRUE(store.add(1, one));
  };
  add(1, 1, 100, 0.1, 2, 50);
  add(2, 3, 900, 0.3, 3, 450);
  add(3, 4, 400, 0.1, 4, std::nullopt);
  RunRecord done = store.runs()->front();
  done.state = RunState::finished;
  done.reason = reason::kCapped;
  done.peak_flops_per_second = 1e11;
  ASSERT_TRUE(store.update(done));
  const auto summaries = summarize(store);
  ASSERT_TRUE(summaries) << summaries.error().message();
  const Summary& s = summaries->front();
  EXPECT_DOUBLE_EQ(*s.tokens_per_second, 175);
  EXPECT_DOUBLE_EQ(*s.step_seconds, 8.0 / 14);
  EXPECT_DOUBLE_EQ(*s.mfu, 0.175);
  EXPECT_DOUBLE_EQ(*s.hfu, 0.175);
  EXPECT_DOUBLE_EQ(*s.mbu, (0.9 + 0.4) / 7);
  EXPECT_DOUBLE_EQ(*s.power_watts, 100);
  EXPECT_DOUBLE_EQ(*s.joules_per_token, 0.5);
  EXPECT_EQ(s.capped, 1);
  // Samples alike: mean 1/6, deviation sqrt((2·(1/15)² + (2/15)²)/2) = sqrt(3)/15; 1.96 · that / sqrt(3) / (1/6) =
  // 0.784.
  EXPECT_NEAR(*s.half_width, 0.784, 1e-12);
}

/// One byte of the file is another one, 200 times: an answer or a refusal, never a crash.
TEST_F(StoreTest, ADamagedByteIsNoCrash) {
  {
    Store store = create(path("whole.db"), 30);
    RunRecord done = store.runs()->front();
    done.state = RunState::finished;
    done.peak_flops_per_second = 1e11;
    ASSERT_TRUE(store.update(done));
    ASSERT_TRUE(store.checkpoint());
  }
  const std::string bytes = slurp(path("whole.db"));
  stats::Random random{4};
  int refused = 0;
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    damaged[random.below(static_cast<std::uint32_t>(bytes.size()))] = static_cast<char>(random.below(256));
    spit(path("damaged.db"), damaged);
    auto store = Store::open(path("damaged.db"), Store::Mode::read);
    const auto summaries = store ? summarize(*store) : Result<std::vector<Summary>>{fail(store.error())};
    if (summaries) continue;
    ++refused;
    EXPECT_EQ(summaries.error().code, Errc::bad_data) << summaries.error().message();
  }
  EXPECT_GT(refused, 0);
}

TEST_F(StoreTest, ALogCutAtAnyByteLosesItsTailOnly) {
  Store store = create(path("whole.db"), 100);  // stays open: closing would move the log into the file
  const std::string bytes = slurp(path("whole.db"));
  const std::string log = slurp(path("whole.db-wal"));
  ASSERT_GT(log.size(), 100'000U);
  stats::Random random{2};
  std::vector<std::size_t> cuts{0, 1, 31, 32, 33, log.size() - 1, log.size()};
  for (int i = 0; i < 150; ++i) cuts.push_back(random.below(static_cast<std::uint32_t>(log.size())));
  std::int64_t opened = 0;
  for (const std::size_t cut : cuts) {
    SCOPED_TRACE(cut);
    spit(path("cut.db"), bytes);
    spit(path("cut.db-wal"), log.substr(0, cut));
    if (opens_as_a_prefix(path("cut.db"), 100)) ++opened;
    for (const char* side : {"cut.db-wal", "cut.db-shm"}) fs::remove(path(side));
  }
  EXPECT_GT(opened, 100);
}

/// A child stores samples and says through a pipe which are stored; it is killed at a random moment, 50 times.  All
/// that it said must be there, at most one more, and the next life goes on from there.
TEST_F(StoreTest, KilledAtFiftyRandomMomentsNothingAcknowledgedIsLost) {
  stats::Random random{3};
  std::int64_t stored = 0;
  for (int life = 0; life < 50; ++life) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      ::close(ends[0]);
      auto store = Store::open(path("a.db"), Store::Mode::resume);
      if (!store || !store->mark_killed() || !store->add(configuration())) ::_exit(1);
      std::vector<RunRecord> runs = store->runs().value();
      RunRecord mine = runs.empty() ? run("first") : runs.front();
      if (runs.empty() && !store->begin(mine)) ::_exit(1);
      for (auto number = static_cast<std::int64_t>(store->samples(mine.id)->size()) + 1;; ++number) {
        if (!store->add(mine.id, sample(number))) ::_exit(1);
        if (::write(ends[1], &number, sizeof number) != sizeof number) ::_exit(1);
      }
    }
    ::close(ends[1]);
    std::int64_t acknowledged = stored;
    std::int64_t number = 0;
    // Some are killed while they open the store, most while they write.
    if (life % 5 != 0) {
      if (::read(ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
    }
    std::this_thread::sleep_for(std::chrono::microseconds{random.below(12'000)});
    ::kill(child, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status));
    while (::read(ends[0], &number, sizeof number) == sizeof number) acknowledged = number;
    ::close(ends[0]);

    auto store = Store::open(path("a.db"), Store::Mode::read);
    if (!store && stored == 0 && acknowledged == 0) continue;  // killed before it had made one
    ASSERT_TRUE(store) << store.error().message();
    const auto runs = store->runs();
    ASSERT_TRUE(runs);
    const auto samples = runs->empty() ? std::vector<SampleRecord>{} : *store->samples(runs->front().id);
    stored = static_cast<std::int64_t>(samples.size());
    EXPECT_GE(stored, acknowledged);
    EXPECT_LE(stored, acknowledged + 1);
    for (std::int64_t i = 0; i < stored; ++i) ASSERT_EQ(samples[static_cast<std::size_t>(i)], sample(i + 1));
  }
  EXPECT_GT(stored, 50);
}

TEST_F(StoreTest, MergeJoinsWhatIsNew) {
  {
    Store a = create(path("a.db"), 3);
    Store b = create(path("b.db"), 0);
    EXPECT_TRUE(b.add(configuration(2)));
    RunRecord second = run("second", 1, 2);
    EXPECT_TRUE(b.begin(second));
    EXPECT_TRUE(b.add(second.id, sample(1)));
  }
  auto into = Store::open(path("out.db"), Store::Mode::resume);
  auto a = Store::open(path("a.db"), Store::Mode::read);
  auto b = Store::open(path("b.db"), Store::Mode::read);
  ASSERT_TRUE(into && a && b);
  ASSERT_TRUE(merge(*into, *a));
  const auto merged = merge(*into, *b);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->runs, 1);
  EXPECT_EQ(merged->samples, 1);
  EXPECT_EQ(merged->known, 1);  // `first` of b holds nothing that a does not
  EXPECT_EQ(into->runs()->size(), 2U);
  EXPECT_EQ(into->configurations()->size(), 2U);
  EXPECT_EQ(into->samples(1)->size(), 3U);
  const auto again = merge(*into, *b);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->runs + again->samples, 0);
}

TEST_F(StoreTest, MergeTakesTheLongerRecordOfOneRun) {
  Store older = create(path("a.db"), 2);
  Store newer = create(path("b.db"), 5);
  ASSERT_TRUE(merge(older, newer));
  EXPECT_EQ(older.samples(1)->size(), 5U);
  const auto back = merge(newer, older);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->known, 1);
}

TEST_F(StoreTest, MergeRefusesARunWithTwoStories) {
  Store a = create(path("a.db"), 2);
  Store b = create(path("b.db"), 1);
  SampleRecord other = sample(2);
  other.mfu = 0.5001;
  ASSERT_TRUE(b.add(1, other));
  RunRecord more = run("more", 2);
  ASSERT_TRUE(b.begin(more));
  const auto merged = merge(a, b);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::bad_data);
  EXPECT_EQ(merged.error().where, path("b.db"));
  EXPECT_THAT(merged.error().what, HasSubstr(path("a.db")));
  EXPECT_EQ(a.runs()->size(), 1U);  // nothing of b came in
}

TEST_F(StoreTest, MergeKeepsTheFirstOfTwoMeasurementsOfOneRepeat) {
  Store a = create(path("a.db"), 2);
  Store b = create(path("b.db"), 0);
  for (auto* store : {&a, &b}) {
    RunRecord mine = run(store == &a ? "here" : "there", 2);
    mine.state = RunState::finished;
    ASSERT_TRUE(store->begin(mine));
    ASSERT_TRUE(store->add(mine.id, sample(1)));
  }
  const auto merged = merge(a, b);
  ASSERT_TRUE(merged);
  EXPECT_EQ(merged->repeated, 1);
  EXPECT_EQ(a.runs()->size(), 2U);
}

TEST_F(StoreTest, MergeRefusesAnotherProtocol) {
  Store a = create(path("a.db"), 1);
  auto b = Store::open(path("b.db"), Store::Mode::resume);
  ASSERT_TRUE(b->add_plan("plan", "other"));
  const auto merged = merge(a, *b);
  ASSERT_FALSE(merged);
  EXPECT_EQ(merged.error().code, Errc::bad_data);
}

}  // namespace
}  // namespace flopwatt::sweep
