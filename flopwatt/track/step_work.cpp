#include "flopwatt/track/step_work.hpp"

#include <fmt/format.h>

#include <cmath>

namespace flopwatt::track {

using units::byte;
using units::flop;
using units::token;

MicroBatchWork work_of(const work::Ledger& ledger) {
  double step_bytes = 0;
  double update_bytes = 0;
  for (const work::Row& row : ledger.rows()) {
    for (std::size_t kind = 0; kind < work::kByteKindCount; ++kind) {
      const double bytes = (row.bytes_read[kind] + row.bytes_written[kind]).to_double();
      (row.pass == work::Pass::update ? update_bytes : step_bytes) += bytes;
    }
  }
  const work::Totals& totals = ledger.totals();
  return {.model_flops = totals.step.to_double() * flop,
          .hardware_flops = totals.hardware_step.to_double() * flop,
          .bytes = step_bytes * byte,
          .optimizer_bytes = update_bytes * byte,
          .slots = totals.tokens.to_double() * token,
          .origin = "ledger, counting 1"};
}

Result<MicroBatchWork> work_of_parameters(const ParameterCount& parameters, std::int64_t tokens) {
  if (parameters.local <= units::Count{}) return fail(Errc::usage, "a model has at least one parameter");
  if (parameters.shards < 1) return fail(Errc::usage, "the number of shards must be at least 1");
  if (tokens < 1) return fail(Errc::usage, "a micro-batch holds at least one token");
  const double n = parameters.local.to_double() * static_cast<double>(parameters.shards);
  return MicroBatchWork{.model_flops = 6 * n * static_cast<double>(tokens) * flop,
                        .hardware_flops = {},
                        .bytes = {},
                        .optimizer_bytes = {},
                        .slots = static_cast<double>(tokens) * token,
                        .origin = fmt::format("6·N·tokens, N = {:.6g}, an estimate without attention", n)};
}

Result<void> check_parameters(units::Count of_model, units::Count seen) {
  if (seen == of_model) return {};
  if (seen <= units::Count{}) return fail(Errc::usage, "the program sees no parameters at all");
  const double ratio = of_model.to_double() / seen.to_double();
  const double whole = std::round(ratio);
  // Sharding pads each tensor to a multiple of the ranks, so that the shard is a little more than its part.
  if (ratio > 1.5 && ratio <= whole * 1.001 && ratio >= whole * 0.98) {
    return fail(Errc::usage,
                fmt::format("the program sees {:.6g} parameters of {:.6g}: one shard of {:.0f}", seen.to_double(),
                            of_model.to_double(), whole),
                {}, "count before the model is sharded, or state the shards");
  }
  return fail(
      Errc::usage,
      fmt::format("the program sees {:.6g} parameters, the model has {:.6g}", seen.to_double(), of_model.to_double()),
      {}, "check that the config is the one of this run");
}

}  // namespace flopwatt::track
