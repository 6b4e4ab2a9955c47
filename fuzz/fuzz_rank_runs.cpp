// The files of a job's ranks, a form feed between two of them: whatever the bytes, an Error or a job whose totals are
// those of its ranks and are never negative.

#include <cmath>
#include <string_view>
#include <vector>

#include "flopwatt/base/check.hpp"
#include "flopwatt/track/combine.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text{reinterpret_cast<const char*>(data), size};
  std::vector<track::RankRun> runs;
  for (bool more = true; more;) {
    const std::size_t end = text.find('\f');
    more = end != std::string_view::npos;
    const auto run = track::read_run(text.substr(0, end), "rank.jsonl");
    if (more) text.remove_prefix(end + 1);
    if (!run) {
      FLOPWATT_CHECK(run.error().code == Errc::bad_data && run.error().where.starts_with("rank.jsonl"));
      continue;
    }
    runs.push_back(*run);
  }
  const auto job = track::combine(runs);
  if (!job) {
    FLOPWATT_CHECK(job.error().code == Errc::usage);
    return 0;
  }
  FLOPWATT_CHECK(job->ranks == static_cast<std::int64_t>(runs.size()) && job->devices >= job->ranks && job->steps >= 1);
  FLOPWATT_CHECK(job->in_steps > units::Duration{} && job->wall > units::Duration{});
  FLOPWATT_CHECK(!job->energy || *job->energy >= units::Energy{});
  for (const track::RankRun& run : runs) FLOPWATT_CHECK(run.rank < job->ranks && run.in_steps <= job->in_steps);
  if (job->mfu.value) FLOPWATT_CHECK(*job->mfu.value >= 0 && *job->mfu.value <= 1);
  if (job->mfu.impossible) FLOPWATT_CHECK(std::isfinite(*job->mfu.impossible));
  return 0;
}
