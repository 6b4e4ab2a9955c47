#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/audit/audit.hpp"
#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/work/ledger.hpp"

/// What the checks look at: a device's rows, each with its step counted again.

namespace flopwatt::audit {

/// One observation and its ledger.
struct Row {
  const dataset::Observation* observation = nullptr;
  std::size_t configuration = 0;  ///< repeats share it
  /// Absent where the model, the dtype or a size is unknown.
  std::optional<work::Totals> step;
  std::optional<units::Duration> step_time;

  /// Model FLOPs of the ledger over the measured step time.
  [[nodiscard]] std::optional<units::FlopRate> rate() const noexcept;
};

struct Subject {
  const dataset::Dataset* dataset = nullptr;
  std::vector<Row> rows;
  std::size_t configurations = 0;
  std::optional<device::Device> device;       ///< merged where the name fits several variants
  std::optional<units::Power> limit;          ///< the highest of the variants
  std::optional<units::Bandwidth> bandwidth;  ///< the lowest of the variants
  std::optional<units::Power> idle;           ///< mean of the idle rows
  std::vector<std::string> notes;
};
[[nodiscard]] Subject examine(const dataset::Dataset& dataset, const device::Catalogue& devices,
                              const model::Catalogue& models);

/// Collects findings of one subject.
class Findings {
 public:
  explicit Findings(const Subject& subject) : subject_{subject} {}

  /// `rows` are the observations it concerns.
  void add(std::string_view code, Severity severity, const std::vector<const dataset::Observation*>& rows,
           std::vector<Evidence> evidence, std::string text, std::string remedy);
  [[nodiscard]] std::vector<Finding> take() && { return std::move(findings_); }

 private:
  const Subject& subject_;
  std::vector<Finding> findings_;
};

/// "bfloat16 tensor dense, fp32 accumulate" for people.
[[nodiscard]] std::string describe(const device::Peak& peak);

// The checks, one a file of its own or a small group; each adds what it finds.
void check_values(const Subject& subject, Findings& findings);
void check_units(const Subject& subject, Findings& findings);
void check_peaks(const Subject& subject, Findings& findings);
void check_sequence(const Subject& subject, Findings& findings);
void check_repeats(const Subject& subject, Findings& findings);
void check_flop_columns(const Subject& subject, Findings& findings);
void check_power(const Subject& subject, Findings& findings);
void check_sensors(const Subject& subject, Findings& findings);
void check_host_bound(const Subject& subject, Findings& findings);

}  // namespace flopwatt::audit
