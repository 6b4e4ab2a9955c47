#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"

namespace flopwatt::device {

/// Which peak of a precision is meant; what is not said is the default of `peak`.
struct PeakRequest {
  std::optional<Path> path;
  std::optional<Accumulate> accumulate;
};

/// The peak that normalises work in `precision`.  By default: float32 on the vector units; every other precision dense
/// on the tensor path with fp32 accumulation (int32 for integers), on the vector units only where the device has no
/// tensor path at all.  TF32 is a precision of its own. Errc::usage where the device lacks the precision (with the
/// reason and what it has), where no figure is known, where the variants of a merged device differ in it.
[[nodiscard]] Result<Peak> peak(const Device& device, units::Precision precision, const PeakRequest& request = {});

/// Every known peak of a precision, in the order of the catalogue.
[[nodiscard]] std::vector<Peak> peaks_for(const Device& device, units::Precision precision);

/// A catalogue peak that comes close to an implied one.
struct PeakMatch {
  Peak peak;
  double relative_difference = 0;  ///< implied / peak − 1
};
/// The peaks of any precision and path within `tolerance` (0.02 = 2 %) of `implied`, closest first: what explains the
/// denominator of a recorded MFU.
[[nodiscard]] std::vector<PeakMatch> matching_peaks(const Device& device, units::FlopRate implied, double tolerance);

/// "float32, tf32, float16": the precisions with at least one known peak.
[[nodiscard]] std::string known_precisions(const Device& device);

}  // namespace flopwatt::device
