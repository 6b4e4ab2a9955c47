#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::dataset {

/// What one row of a samples file says: the mean over one run, or one sample of it.  An absent optional is a cell (or a
/// whole column) that the file does not fill; nothing is computed from other columns and nothing is corrected, so that
/// an audit sees what was recorded.  Percent columns of the file are fractions here.
struct Observation {
  std::size_t file = 0;  ///< index into Dataset::files
  std::size_t line = 0;  ///< line of the file, from 1; of the first sample for an aggregated run

  std::string model;                          ///< model_name, as recorded
  std::string dtype;                          ///< dtype, as recorded
  std::optional<units::Precision> precision;  ///< of `dtype`; absent if the name is not known
  std::optional<double> batch;                ///< batch_size: sequences a step; 0 in an idle row
  std::optional<double> sequence;             ///< sequence_length: tokens a sequence really holds
  std::optional<double> context_window;       ///< configured length, which the tensors need not have
  std::optional<double> learning_rate, warmup_iterations, cooldown_seconds;
  std::optional<bool> io_latency_enabled, power_meter_available;
  std::string io_latency_profile, io_latency_pattern;
  /// What the recorder itself says belongs together: rows of one run, runs of one configuration; empty: it does not.
  std::string run_id, configuration_id;
  std::string power_source;  ///< what read the power: "nvml", "synthetic"; empty: not recorded

  std::optional<units::TokenRate> tokens_per_second;
  std::optional<double> mfu;          ///< mfu_percentage_calflops: from counted FLOPs
  std::optional<double> mfu_formula;  ///< mfu_percentage: from the recorder's own formula
  std::optional<double> gpu_utilization, memory_utilization;
  std::optional<units::DataSize> memory_used;  ///< memory_used_mb, read as MiB as nvidia-smi means it
  std::optional<double> temperature_celsius;
  std::optional<units::Power> power;               ///< power_draw_watts
  std::optional<units::Power> meter_active_power;  ///< power_meter_active_power_w: external meter
  std::optional<double> meter_reactive_power_var, meter_apparent_power_va;
  std::optional<double> layers, heads, head_dim;
  std::optional<units::FlopPerToken> formula_flops_per_token;  ///< of the recorder's own formula
  std::optional<units::FlopCount> counted_flops;               ///< calflops_total: of a whole step, by its definition
  std::optional<units::Duration> io_latency, io_latency_configured;

  /// samples_per_config, or the number of raw samples aggregated into this row; 1 for a raw sample.
  std::optional<double> samples;
  std::optional<bool> cap_reached;
  std::optional<units::Power> power_sd;  ///< over the raw samples of an aggregated run (n − 1); absent otherwise
};

/// What a step of this observation computes: batch × sequence tokens, if both are recorded and positive.
[[nodiscard]] std::optional<units::TokenCount> tokens_per_step(const Observation& observation) noexcept;
/// tokens per step / tokens per second.
[[nodiscard]] std::optional<units::Duration> step_time(const Observation& observation) noexcept;
/// counted FLOPs of a step / step time, with no peak in it.
[[nodiscard]] std::optional<units::FlopRate> counted_flop_rate(const Observation& observation) noexcept;
/// counted FLOP rate / recorded MFU: the peak that the recorder must have divided by.
[[nodiscard]] std::optional<units::FlopRate> implied_peak(const Observation& observation) noexcept;

}  // namespace flopwatt::dataset
