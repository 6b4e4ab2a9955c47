#include "flopwatt/base/check.hpp"

#include <cstdio>
#include <cstdlib>

namespace flopwatt::base {

void check_failed(const char* file, int line, const char* condition) noexcept {
  std::fprintf(stderr, "flopwatt: internal fault at %s:%d: %s does not hold; please report this\n", file, line,
               condition);
  std::abort();
}

}  // namespace flopwatt::base
