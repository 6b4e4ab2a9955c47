#include "flopwatt/engine/workload_program.hpp"

#include <unistd.h>

#include <cstdlib>

#include "flopwatt/io/file.hpp"
#include "flopwatt/workload/torch_program.hpp"

namespace flopwatt::engine {

Result<std::string> workload_program(const std::string& named) {
  const char* variable = std::getenv("FLOPWATT_TORCH");
  if (named.empty() || (variable != nullptr && *variable != '\0')) return workload::torch_program();
  if (!io::is_folder(named) && ::access(named.c_str(), X_OK) == 0) return named;
  return fail(Errc::unavailable, "is no program that can be run", named, "correct `workload` in the plan");
}

}  // namespace flopwatt::engine
