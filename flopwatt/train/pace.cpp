#include "flopwatt/train/pace.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace flopwatt::train {
namespace {

using units::byte;
using units::Duration;
using units::flop;
using units::token;

units::DataSize bytes_of(const work::Row& row) {
  units::Count sum;
  for (const units::Count count : row.bytes_read) sum += count;
  for (const units::Count count : row.bytes_written) sum += count;
  return sum.to_double() * byte;
}

Duration update_time(const work::Ledger& step, units::Bandwidth bandwidth) {
  units::DataSize bytes;
  for (const work::Row& row : step.rows()) {
    if (row.pass == work::Pass::update) bytes += bytes_of(row);
  }
  return bytes / bandwidth;
}

Result<StepTime> roofline(const work::Ledger& step, const Hardware& hardware, double efficiency) {
  if (!hardware.bandwidth) {
    return fail(Errc::usage, "the memory bandwidth of the device is unknown, so a roofline cannot be drawn", {},
                "state --mem-bw-gbs, or the rate by --mfu or --tokens-per-second");
  }
  StepTime time;
  for (const work::Row& row : step.rows()) {
    const Duration compute = row.hardware_flops.to_double() * flop / (efficiency * hardware.peak);
    const Duration memory = bytes_of(row) / (efficiency * *hardware.bandwidth);
    const Duration slower = std::max(compute, memory);
    time.total += slower;
    if (row.pass == work::Pass::update) time.optimizer += slower;
  }
  return time;
}

StepTime stated(const work::Ledger& step, const Hardware& hardware, Duration total) {
  StepTime time;
  time.total = total;
  if (hardware.bandwidth) time.optimizer = std::min(total, update_time(step, *hardware.bandwidth));
  return time;
}

Result<StepTime> by_pace(const work::Ledger& step, const work::Totals& totals, const Hardware& hardware,
                         const Pace& pace) {
  if (const auto* measured = std::get_if<MeasuredRate>(&pace)) {
    return stated(step, hardware, totals.tokens.to_double() * token / measured->tokens);
  }
  if (const auto* achieved = std::get_if<AchievedMfu>(&pace)) {
    return stated(step, hardware, totals.step.to_double() * flop / (achieved->mfu * hardware.peak));
  }
  return roofline(step, hardware, std::get<Roofline>(pace).efficiency);
}

}  // namespace

std::string_view name(const Pace& pace) noexcept {
  constexpr std::array<std::string_view, 3> kNames{"tokens_per_second", "mfu", "roofline"};
  return kNames[pace.index()];
}

work::Ledger optimizer_step(const work::Ledger& micro_batch, std::int64_t micro_batches) {
  std::vector<work::Row> rows = micro_batch.rows();
  for (work::Row& row : rows) {
    if (row.pass == work::Pass::update) continue;
    row.executions *= micro_batches;
    row.model_flops *= micro_batches;
    row.hardware_flops *= micro_batches;
    row.elementwise_flops *= micro_batches;
    for (units::Count& count : row.bytes_read) count *= micro_batches;
    for (units::Count& count : row.bytes_written) count *= micro_batches;
  }
  return work::Ledger{std::move(rows), micro_batch.tokens() * micro_batches};
}

Result<StepTime> step_time(const work::Ledger& step, const Hardware& hardware, const Pace& pace) {
  const work::Totals totals = step.totals();
  FLOPWATT_TRY(StepTime time, by_pace(step, totals, hardware, pace));
  if (!(time.total > Duration{}) || !std::isfinite(time.total.in(units::second))) {
    return fail(Errc::usage, "the step time that follows is not a positive number of seconds", {},
                "check the rate, the MFU or the efficiency");
  }
  if (hardware.bandwidth) time.memory_bound = totals.bytes.total.to_double() * byte / *hardware.bandwidth;
  return time;
}

}  // namespace flopwatt::train
