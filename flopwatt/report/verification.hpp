#pragma once

#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/model/verify.hpp"
#include "flopwatt/report/document.hpp"

namespace flopwatt::report {

/// The census against a checkpoint: sizes, the conclusion, and a row for each difference.
[[nodiscard]] Section verification_section(const model::Verification& verification);
/// `"verify": {…}`
void write_verification(io::JsonWriter& json, const model::Verification& verification);

}  // namespace flopwatt::report
