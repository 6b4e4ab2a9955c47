#pragma once

#include <string>
#include <vector>

#include "flopwatt/answers/audit.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/engine/facts.hpp"

namespace flopwatt::engine {

struct AuditRequest {
  std::vector<std::string> files;
  std::string device;  ///< of files that do not name theirs
};

/// Errors: Errc::bad_data at FILE:LINE for what cannot be read.  Findings are an answer, not an error.
[[nodiscard]] Result<answers::Audit> audit(const Facts& facts, const AuditRequest& request);

}  // namespace flopwatt::engine
