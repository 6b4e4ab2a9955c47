// Uses the library as a stranger would: a value of a public type, an error, and text out of the compiled part.
#include <iostream>

#include "flopwatt/base/version.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/units/text.hpp"

int main() {
  const auto bandwidth = flopwatt::units::parse_bandwidth("3.35 TB/s");
  if (!bandwidth || flopwatt::units::parse_bandwidth("3.35")) return 1;
  std::cout << flopwatt::base::kVersion << ' ' << flopwatt::units::to_text(*bandwidth) << '\n';
}
