#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/store.hpp"

namespace flopwatt::sweep {

struct Merged {
  std::int64_t runs = 0, samples = 0;  ///< that came in
  std::int64_t known = 0;              ///< runs that were there already
  std::int64_t renewed = 0;            ///< runs of which `from` knew more: an older copy of the same store was there
  std::int64_t repeated = 0;           ///< finished runs left out: the same repeat was measured elsewhere before
};

/// Adds what `from` holds to `into`, in one transaction: all of it or nothing.  A run that both know is copied once;
/// where one store is an older copy, the longer record wins.  Errc::bad_data, naming both files: another protocol, one
/// identity with two meanings, one run with two records of the same sample.
[[nodiscard]] Result<Merged> merge(Store& into, Store& from);

}  // namespace flopwatt::sweep
