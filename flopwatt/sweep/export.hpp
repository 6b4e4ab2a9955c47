#pragma once

#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/store.hpp"

namespace flopwatt::sweep {

struct Exported {
  std::string csv;
  std::int64_t rows = 0, idle_rows = 0;
  std::string device;  ///< of the rows where it is one
};
/// The samples of all finished runs, one row each, in the columns of the public study (docs/samples.md), then columns
/// of ours that say what the study's cannot: configuration_id and run_id tell runs apart, the peak, the power source.
/// Idle readings are rows of the model `baseline`.  Errc::bad_data for a store without a finished run.
[[nodiscard]] Result<Exported> export_csv(Store& store);

/// A catalogue file of the store's models (data/schema/model.schema.json), for `fit --data DIR`.
[[nodiscard]] Result<std::string> export_models(Store& store);

}  // namespace flopwatt::sweep
