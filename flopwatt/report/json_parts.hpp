#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/answers/flag.hpp"
#include "flopwatt/answers/power.hpp"
#include "flopwatt/device/device.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/units/count.hpp"
#include "flopwatt/work/ledger.hpp"
#include "flopwatt/work/workload.hpp"

/// Pieces that the JSON of several verbs share.

namespace flopwatt::report {

/// `{"flopwatt": …, "schema": …, "verb": …, "inputs": {` — the caller writes the inputs and closes them.
void begin_answer(io::JsonWriter& json, std::string_view verb);
/// `"flags": […]`, each code once, and `"flag_details": […]`, objects of code and text.
void write_flags(io::JsonWriter& json, const std::vector<answers::Flag>& flags);
/// `"notes": […]}`
[[nodiscard]] std::string finish_answer(io::JsonWriter&& json, const std::vector<std::string>& notes);

/// `"key": ["…", …]`
void write_strings(io::JsonWriter& json, std::string_view key, const std::vector<std::string>& strings);

/// An exact integer.
void member(io::JsonWriter& json, std::string_view key, units::Count count);
/// An exact integer where the division has no rest, else a double.
void member_quotient(io::JsonWriter& json, std::string_view key, units::Count dividend, units::Count divisor);

/// Members of `inputs`.
void write_model_inputs(io::JsonWriter& json, const model::Architecture& architecture);
void write_workload_inputs(io::JsonWriter& json, const work::Workload& workload);

/// `"peak": {…}` and `"bandwidth": {…}|null`.
void write_peak(io::JsonWriter& json, const device::Peak& peak);
void write_bandwidth(io::JsonWriter& json, const device::Device& device);
void write_memory(io::JsonWriter& json, const work::Memory& memory);
/// `"calibration": {device, origin, peak}|null`, `"model"` and the interval of a prediction are written by the verbs.
void write_calibration(io::JsonWriter& json, const answers::CalibrationUsed& used);

}  // namespace flopwatt::report
