#pragma once

#include <optional>

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
#include "flopwatt/report/document.hpp"

/// Answers for people.

namespace flopwatt::report {

[[nodiscard]] Document to_document(const answers::Count& answer, std::optional<CountPart> part = {});
[[nodiscard]] Document to_document(const answers::Devices& answer);
[[nodiscard]] Document to_document(const answers::Mfu& answer);
[[nodiscard]] Document to_document(const answers::Power& answer);
/// One table: the file's own columns, then watts and joules.
[[nodiscard]] Document to_document(const answers::PowerRows& answer);
[[nodiscard]] Document to_document(const answers::Train& answer);
/// Findings by device, worst first.
[[nodiscard]] Document to_document(const answers::Audit& answer);
/// The study's three tables: predictors, models, residuals and regimes.
[[nodiscard]] Document to_document(const answers::Fit& answer);
/// By device: energy, powers, gaps; then the sums.
[[nodiscard]] Document to_document(const answers::Energy& answer);
[[nodiscard]] Document to_document(const answers::MonitorSummary& answer);
[[nodiscard]] Document to_document(const answers::MonitorSources& answer);
[[nodiscard]] Document to_document(const answers::SweepPlan& answer);
[[nodiscard]] Document to_document(const answers::SweepRun& answer);
[[nodiscard]] Document to_document(const answers::SweepReport& answer);
[[nodiscard]] Document to_document(const answers::SweepMerge& answer);

}  // namespace flopwatt::report
