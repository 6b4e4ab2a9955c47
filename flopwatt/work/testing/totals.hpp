#pragma once

#include <gtest/gtest.h>

#include "flopwatt/work/ledger.hpp"

namespace flopwatt::work::testing {

/// The totals of a count that must succeed.
inline Totals totals_of(const model::Architecture& architecture, const Workload& workload) {
  const Result<Ledger> ledger = count(architecture, workload);
  EXPECT_TRUE(ledger.has_value()) << (ledger ? "" : ledger.error().message());
  return ledger ? ledger->totals() : Totals{};
}

/// Sum of the model FLOPs of the rows with this label, in one pass.
inline units::Count flops_of(const Ledger& ledger, std::string_view label, Pass pass = Pass::forward) {
  units::Count sum;
  for (const Row& row : ledger.rows()) {
    if (row.label == label && row.pass == pass) sum += row.model_flops;
  }
  return sum;
}

/// The first row with this label; fails the test if there is none.
inline Row row_of(const Ledger& ledger, std::string_view label, Pass pass = Pass::forward) {
  for (const Row& row : ledger.rows()) {
    if (row.label == label && row.pass == pass) return row;
  }
  ADD_FAILURE() << "no row " << label;
  return {};
}

}  // namespace flopwatt::work::testing
