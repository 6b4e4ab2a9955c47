#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/dataset/dataset.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/units/precision.hpp"
#include "flopwatt/units/quantity.hpp"

/// Measured rows held against first principles: every row is counted again from the model and the device catalogue, and
/// what does not fit is a finding.  Nothing is corrected here, and no device or file is a special case: each check is a
/// statistic with a threshold whose reason stands beside it (docs/audit.md has the list).

namespace flopwatt::audit {

enum class Severity : std::uint8_t {
  info,     ///< good to know; no number is wrong
  warning,  ///< a number means something else than its name says
  error,    ///< rows that must not be fitted as they are
};
/// "info", "warning", "error".
[[nodiscard]] std::string_view name(Severity severity) noexcept;

/// A number or a word that supports a finding.  Keys end in their unit: "implied_peak_flops_per_second".
struct Evidence {
  std::string key;
  std::variant<double, std::string> value;
};

struct Finding {
  std::string code;  ///< stable: "power_above_limit"
  Severity severity = Severity::info;
  std::string device;
  std::vector<std::string> places;  ///< rows it concerns as "FILE:LINE" or "FILE:FIRST-LAST", in order
  std::size_t rows = 0;             ///< how many
  std::vector<Evidence> evidence;
  std::string text;    ///< one sentence: what was found
  std::string remedy;  ///< one sentence: what to do about it
};

struct DeviceSummary {
  std::string device;  ///< as the data name it
  std::size_t rows = 0, idle_rows = 0;
  std::size_t counted = 0;  ///< rows whose step could be counted from the catalogues
  std::vector<std::string> notes;
};

struct AuditResult {
  std::vector<Finding> findings;  ///< by device, then by severity, worst first
  std::size_t rows = 0;
  std::vector<DeviceSummary> devices;
};

/// Audits every device of `datasets`.  A model or device that the catalogues lack limits what can be checked; a note of
/// its summary says so.
[[nodiscard]] AuditResult audit(std::span<const dataset::Dataset> datasets, const device::Catalogue& devices,
                                const model::Catalogue& models);

/// What a reported MFU must have been divided by.
struct ImpliedPeak {
  units::FlopRate rate;      ///< achieved / reported
  std::string explained_by;  ///< the catalogue peak of the device that it is, or empty
  bool agrees = false;       ///< with `peak`, within kPeakTolerance
};
/// `reported` a fraction above 0, `peak` what it should have been divided by.
[[nodiscard]] ImpliedPeak implied_peak(units::FlopRate achieved, double reported, const device::Device& device,
                                       units::FlopRate peak);

/// A row of somebody's published benchmark table.
struct PublishedMfu {
  std::string model, device;
  units::Precision precision = units::Precision::bfloat16;
  std::int64_t batch = 1, sequence = 0;
  units::TokenRate tokens_per_second;
  double mfu = 0;  ///< as published, a fraction
};
/// What a published MFU was divided by, and what it is by the catalogue.
struct PublishedCheck {
  units::FlopRate achieved;
  units::FlopRate implied_peak;    ///< achieved / published MFU
  units::FlopRate catalogue_peak;  ///< dense, fp32 accumulation
  double mfu = 0;                  ///< achieved / catalogue peak
  std::string explained_by;        ///< the catalogue peak that the implied one is, or empty
  bool agrees = false;             ///< implied and catalogue peak within kPeakTolerance
};
/// Errors: those of the catalogues; Errc::usage for a rate, batch, sequence or MFU that is not positive.
[[nodiscard]] Result<PublishedCheck> check_published_mfu(const PublishedMfu& row, const device::Catalogue& devices,
                                                         const model::Catalogue& models);

/// Peaks closer than this are one peak: recorders round the FLOPs of a step to four digits and vendors round peaks to
/// three, and the closest different peaks of one device are 15 % apart.
inline constexpr double kPeakTolerance = 0.03;

}  // namespace flopwatt::audit
