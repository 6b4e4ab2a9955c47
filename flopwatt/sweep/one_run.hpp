#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/record.hpp"
#include "flopwatt/units/quantity.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

/// One child process and what it says, from its start to its end.

namespace flopwatt::sweep {

/// How a conversation with a workload ended.
struct Ending {
  RunState state = RunState::failed;
  std::string reason, detail;
  std::optional<Error> foreign{};  ///< nothing that the program said was understood: which program it is not
};

/// Seconds of CLOCK_MONOTONIC, and since 1970.
[[nodiscard]] double monotonic_seconds() noexcept;
[[nodiscard]] double unix_seconds() noexcept;

/// Waits; true when it was asked to stop meanwhile.
[[nodiscard]] bool pause(units::Duration time, const std::function<bool()>& stop);

/// Starts the program, gives it the job and hands every event to `take`, until that returns an ending (then the child
/// is told to stop, and killed if it does not), the child ends, the limit passes or `stop` says so.  Errors: of `take`
/// (the store), and Errc::unavailable where the program cannot be started.
[[nodiscard]] Result<Ending> converse(const std::vector<std::string>& program, const workload::Job& job,
                                      units::Duration limit, const std::function<bool()>& stop,
                                      const std::function<Result<std::optional<Ending>>(const workload::Event&)>& take);

}  // namespace flopwatt::sweep
