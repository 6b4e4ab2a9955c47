#pragma once

#include <string>
#include <vector>

#include "flopwatt/audit/audit.hpp"

namespace flopwatt::answers {

/// `flopwatt audit`: measured rows held against first principles.
struct Audit {
  std::vector<std::string> files;  ///< that were read, as the caller named them
  audit::AuditResult result;
  std::vector<std::string> notes;
};

}  // namespace flopwatt::answers
