#pragma once

#include <string>

#include "flopwatt/answers/audit.hpp"
#include "flopwatt/answers/count.hpp"
#include "flopwatt/answers/devices.hpp"
#include "flopwatt/answers/energy.hpp"
#include "flopwatt/answers/fit.hpp"
#include "flopwatt/answers/mfu.hpp"
#include "flopwatt/answers/monitor.hpp"
#include "flopwatt/answers/power.hpp"
#include "flopwatt/answers/sweep.hpp"
#include "flopwatt/answers/train.hpp"
#include "flopwatt/report/count_parts.hpp"

/// Answers as JSON: one object each, in base units, that begins with flopwatt, schema, verb and inputs and ends with
/// notes (docs/cli.md).  What is unknown is null.

namespace flopwatt::report {

/// The version of the objects below; it changes when a key changes its meaning or goes.
inline constexpr int kJsonSchema = 1;

[[nodiscard]] std::string to_json(const answers::Count& answer);
/// With the rows of a cut (count_parts.hpp) under `by`.
[[nodiscard]] std::string to_json(const answers::Count& answer, CountPart part);
[[nodiscard]] std::string to_json(const answers::Devices& answer);
[[nodiscard]] std::string to_json(const answers::Mfu& answer);
[[nodiscard]] std::string to_json(const answers::Power& answer);
[[nodiscard]] std::string to_json(const answers::PowerRows& answer);
[[nodiscard]] std::string to_json(const answers::Train& answer);
[[nodiscard]] std::string to_json(const answers::Audit& answer);
[[nodiscard]] std::string to_json(const answers::Fit& answer);
[[nodiscard]] std::string to_json(const answers::Energy& answer);
[[nodiscard]] std::string to_json(const answers::MonitorSummary& answer);
[[nodiscard]] std::string to_json(const answers::MonitorSources& answer);
[[nodiscard]] std::string to_json(const answers::SweepPlan& answer);
[[nodiscard]] std::string to_json(const answers::SweepRun& answer);
[[nodiscard]] std::string to_json(const answers::SweepReport& answer);
[[nodiscard]] std::string to_json(const answers::SweepMerge& answer);

}  // namespace flopwatt::report
