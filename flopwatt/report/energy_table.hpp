#pragma once

#include "flopwatt/answers/energy.hpp"
#include "flopwatt/report/document.hpp"

namespace flopwatt::report {

/// A row a device, for CSV: to_document says the same in facts, which suit few devices and many words.  Base units;
/// what is absent is an empty cell, and `absent` holds the reason.
[[nodiscard]] Document energy_table(const answers::Energy& answer);

}  // namespace flopwatt::report
