// Opens NVML as any program does, by the name that the dynamic linker looks up, and says what it found: the test gives
// it a scripted driver through LD_LIBRARY_PATH.

#include <cstdio>

#include "flopwatt/telemetry/nvml.hpp"

int main() {
  using namespace flopwatt;
  const telemetry::OpenedSource source = telemetry::open_nvml();
  if (!source) {
    std::puts(source.error().error().message().c_str());
    return static_cast<int>(base::Errc::unavailable);
  }
  const telemetry::Reading<units::Power> power = (*source)->read(0).power.value;
  std::printf("%s %.1f W\n", (*source)->devices()[0].name.c_str(), power ? power->in(units::watt) : -1.0);
  return 0;
}
