#pragma once

#include <string>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/answers/power.hpp"
#include "flopwatt/audit/audit.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/power/predict.hpp"
#include "flopwatt/report/document.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/formula.hpp"
#include "flopwatt/work/workload.hpp"

/// Numbers and facts as people read them, shared by the documents of several verbs.

namespace flopwatt::report {

/// "39.90 %", "0.3990 %"
[[nodiscard]] std::string percent(double fraction, int digits = 4);
/// "1.544 B parameters" is "1,543,714,304" and its short form "1.54 B".
[[nodiscard]] std::string short_count(units::Count count);
[[nodiscard]] std::string flops_text(units::Count flops);
[[nodiscard]] std::string bytes_text(units::Count bytes);

/// Why a formula differs from the exact count, in words; only what is not zero.
struct CauseText {
  std::string what;
  units::Count flops;  ///< formula − exact
};
[[nodiscard]] std::vector<CauseText> causes(const work::Comparison& comparison);

/// "train, batch 1 × 2048 tokens, bfloat16"
[[nodiscard]] std::string workload_text(const work::Workload& workload);

/// "one device of stage 1 of 0 … 3, tensor 8, data 2"; empty for a plan of one device.
[[nodiscard]] std::string parallel_text(const work::Parallel& parallel);

/// The same plan as options: "--tp 8 --pp 2 --stage 1".
[[nodiscard]] std::string options_text(const work::Parallel& parallel);

/// "312 TFLOP/s", with precision, path, accumulation and the title of the source
[[nodiscard]] Fact peak_fact(const device::Peak& peak);
[[nodiscard]] Fact bandwidth_fact(const device::Device& device);

/// Watts, interval and where they come from.
[[nodiscard]] std::vector<Fact> power_facts(const power::Prediction& prediction, const answers::CalibrationUsed& used);

/// "a.csv:12, a.csv:14, …": the first places of a finding, without the folder, which is what the reader has just typed.
[[nodiscard]] std::string places_text(const audit::Finding& finding, std::size_t shown);

/// A section that lists flags; none if there are none.
void add_flags(Document& document, const std::vector<answers::Flag>& flags);

}  // namespace flopwatt::report
