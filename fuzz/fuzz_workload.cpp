// The lines between a measuring program and its workload: whatever the bytes, an Error or a value that reads back.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

using namespace flopwatt;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view line{reinterpret_cast<const char*>(data), size};
  if (const auto job = workload::read_job(line)) {
    FLOPWATT_CHECK(workload::read_job(workload::write(*job)) == *job);
  } else {
    FLOPWATT_CHECK(job.error().code == Errc::bad_data);
  }
  if (const auto event = workload::read_event(line)) {
    FLOPWATT_CHECK(workload::read_event(workload::write(*event)) == *event);
  } else {
    FLOPWATT_CHECK(event.error().code == Errc::bad_data);
  }
  return 0;
}
