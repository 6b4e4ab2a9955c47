// Samples files: whatever the bytes, an Error or datasets whose every part can be walked, merged, aggregated, grouped.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>

#include "flopwatt/base/check.hpp"
#include "flopwatt/dataset/dataset.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  auto read = dataset::read_samples(text, "fuzz.csv");
  if (!read) {
    FLOPWATT_CHECK(read.error().code == Errc::bad_data);
    FLOPWATT_CHECK(!read.error().message().empty());
    return 0;
  }
  FLOPWATT_CHECK(!read->empty());
  for (dataset::Dataset& merged : dataset::merge(std::move(*read))) {
    std::size_t rows = merged.rows.size() + merged.idle.size();
    for (const dataset::Dropped& dropped : merged.dropped) rows += dropped.lines.size();
    FLOPWATT_CHECK(rows == merged.rows_read());
    const dataset::Dataset runs = dataset::aggregate(std::move(merged));
    FLOPWATT_CHECK(dataset::configurations(runs.rows).count <= runs.rows.size());
    for (const dataset::Observation& row : runs.rows) {
      FLOPWATT_CHECK(!runs.place(row).empty());
      (void)dataset::implied_peak(row);
    }
  }
  return 0;
}
