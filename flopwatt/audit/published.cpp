#include "flopwatt/audit/subject.hpp"
#include "flopwatt/device/peak.hpp"

namespace flopwatt::audit {

ImpliedPeak implied_peak(units::FlopRate achieved, double reported, const device::Device& device,
                         units::FlopRate peak) {
  ImpliedPeak implied{.rate = achieved / reported, .explained_by = {}, .agrees = false};
  const double ratio = implied.rate / peak;
  implied.agrees = ratio > 1 - kPeakTolerance && ratio < 1 + kPeakTolerance;
  const auto matches = device::matching_peaks(device, implied.rate, kPeakTolerance);
  if (!matches.empty()) implied.explained_by = describe(matches.front().peak);
  return implied;
}

Result<PublishedCheck> check_published_mfu(const PublishedMfu& row, const device::Catalogue& devices,
                                           const model::Catalogue& models) {
  const double tokens_per_second = row.tokens_per_second.in(units::token_per_second);
  if (!(tokens_per_second > 0) || !(row.mfu > 0)) {
    return fail(Errc::usage, "a published rate and MFU must be positive", "", "give both as the table has them");
  }
  FLOPWATT_TRY(const model::Architecture architecture, models.find(row.model));
  FLOPWATT_TRY(const device::Device device, devices.resolve(row.device));
  FLOPWATT_TRY(const device::Peak peak, device::peak(device, row.precision));
  work::Workload workload;
  workload.batch = row.batch;
  workload.sequence = row.sequence;
  workload.precision = row.precision;
  FLOPWATT_TRY(const work::Ledger ledger, work::count(architecture, workload));

  const work::Totals totals = ledger.totals();
  PublishedCheck check;
  check.achieved = totals.step.to_double() / totals.tokens.to_double() * tokens_per_second * units::flop_per_second;
  check.catalogue_peak = peak.rate;
  check.mfu = check.achieved / peak.rate;
  const ImpliedPeak implied = implied_peak(check.achieved, row.mfu, device, peak.rate);
  check.implied_peak = implied.rate;
  check.explained_by = implied.explained_by;
  check.agrees = implied.agrees;
  return check;
}

}  // namespace flopwatt::audit
