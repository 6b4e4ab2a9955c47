#include "flopwatt/report/moment.hpp"

#include <fmt/core.h>

#include <chrono>

namespace flopwatt::report {

std::string moment_text(telemetry::WallTime time) {
  using namespace std::chrono;
  const sys_time<milliseconds> moment{floor<milliseconds>(time)};
  const sys_days midnight = floor<days>(moment);
  const year_month_day date{midnight};
  const hh_mm_ss clock{moment - midnight};
  std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", static_cast<int>(date.year()),
                                 static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                                 clock.hours().count(), clock.minutes().count(), clock.seconds().count());
  if (clock.subseconds().count() > 0) text += fmt::format(".{:03}", clock.subseconds().count());
  return text + "Z";
}

}  // namespace flopwatt::report
