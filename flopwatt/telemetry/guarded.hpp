#pragma once

#include <functional>
#include <string>
#include <thread>

#include "flopwatt/telemetry/source.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::telemetry {

/// A thread that no signal is delivered to: those are the program's.  None where the system has no more threads.
[[nodiscard]] std::thread quiet_thread(std::function<void()> function);

/// Opens a source on a thread that nothing waits for longer than `patience`: a library that hangs while it is opened is
/// left behind, and the source timed_out.
[[nodiscard]] OpenedSource open_guarded(const std::string& source, units::Duration patience,
                                        std::function<OpenedSource()> open);

}  // namespace flopwatt::telemetry
