#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/plan.hpp"

/// The cross product of a plan, each point of it with an identity that does not depend on the plan it stands in.

namespace flopwatt::sweep {

/// A model of the plan, found and read.
struct Model {
  std::string word;     ///< as the plan writes it
  std::string name;     ///< as rows name it: a catalogue name, or the stem of the file
  std::string config;   ///< text of its config.json
  std::string weights;  ///< safetensors file; empty: random
};

/// One point of the cross product: what a run of it sets.
struct Configuration {
  std::string model;          ///< name
  std::string config_sha256;  ///< of the config.json
  std::string weights;
  units::Precision dtype = units::Precision::float32;
  workload::Attention attention = workload::Attention::sdpa;
  std::int64_t batch = 1, sequence = 1, accumulation = 1;
  workload::Recompute recompute = workload::Recompute::none;
  workload::Padding padding = workload::Padding::full;
  std::string device_kind;  ///< cpu, cuda, hip: which of them it was is no part of the identity
  double learning_rate = 0, weight_decay = 0;

  /// One line of JSON, the same for the same configuration however the plan is written.
  [[nodiscard]] std::string canonical() const;
  /// The first 16 hexadecimal digits of its SHA-256.
  [[nodiscard]] std::string id() const;
  /// "tiny-gpt2 bfloat16 sdpa 4 × 64", with what differs from the defaults.
  [[nodiscard]] std::string text() const;

  bool operator==(const Configuration&) const = default;
};

/// What `canonical()` wrote.  Errc::bad_data at `where` for anything else.
[[nodiscard]] Result<Configuration> read_configuration(std::string_view canonical, std::string_view where);

/// Every configuration of a plan, once, in the plan's order.  `models` in the order of plan.models.  Errc::bad_data
/// where two models of the plan have the same name but not the same config, which rows could not tell apart.
[[nodiscard]] Result<std::vector<Configuration>> expand(const Plan& plan, std::span<const Model> models);

/// Part `index` of `count`, from 1.
struct Shard {
  std::int64_t index = 1, count = 1;
  /// Every identity is in exactly one of `count` shards, whatever else the plan holds.
  [[nodiscard]] bool holds(std::string_view id) const;
};
/// "2/4".  Errc::usage for anything else, 0/4 and 5/4.
[[nodiscard]] Result<Shard> parse_shard(std::string_view text);

/// A configuration to be measured once more.
struct Repeat {
  std::size_t configuration = 0;  ///< index
  std::int64_t number = 1;        ///< from 1
  bool operator==(const Repeat&) const = default;
};
/// All repeats, interleaved: every configuration once in random order, then every one again in another order, so that
/// drift of the machine does not look like an effect and a sweep that is cut short has measured everything evenly.  The
/// order depends on the seed and the identities alone: a shard runs its part in the same order as the whole.
[[nodiscard]] std::vector<Repeat> schedule(std::span<const Configuration> configurations, std::int64_t repeats,
                                           std::int64_t seed);

}  // namespace flopwatt::sweep
