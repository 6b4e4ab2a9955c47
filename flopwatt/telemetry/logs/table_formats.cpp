#include <array>
#include <span>

#include "flopwatt/telemetry/logs/table.hpp"

namespace flopwatt::telemetry {
namespace {

using Cut = TableFormat::Cut;
using Role = TableColumn::Role;
using Field = SampleField;

constexpr double kMebibyte = 1048576;

struct Title {
  std::string_view text;
  TableColumn column;
};

template <std::size_t N>
TableColumn find(const std::array<Title, N>& titles, std::string_view text) {
  for (const Title& title : titles) {
    if (same_letters(title.text, text)) return title.column;
  }
  return {};
}

constexpr TableColumn value(Field field, double factor = 1) { return {Role::value, field, factor}; }
constexpr TableColumn power(PowerKind kind, int rank) { return {Role::value, Field::power, 1, kind, rank}; }

// nvidia-smi dmon [-o DT] (nvidia-smi dmon -h; man nvidia-smi, "Device Monitoring").  `pwr` is nvmlDeviceGetPowerUsage
// in whole watts, whose kind depends on a device that dmon does not name.
constexpr std::array kDmon{
    Title{"Date", {Role::date}},
    Title{"Time", {Role::time}},
    Title{"gpu", {Role::device}},
    Title{"pwr", power(PowerKind::unknown, 0)},
    Title{"gtemp", value(Field::temperature)},
    Title{"temp", value(Field::temperature)},
    Title{"sm", value(Field::utilization, 0.01)},
    Title{"fb", value(Field::memory_used, kMebibyte)},
    Title{"pclk", value(Field::compute_clock, 1e6)},
    Title{"mclk", value(Field::memory_clock, 1e6)},
};

// dcgmi dmon -e …: the short names of DCGM's fields (NVIDIA/DCGM, dcgm_fields.cpp).  POWER is field 155, POWINST 157,
// TOTEC 156 in mJ.
constexpr std::array kDcgm{
    Title{"Entity", {Role::device}},
    Title{"POWER", power(PowerKind::average_1s, 0)},
    Title{"POWINST", power(PowerKind::instant, 1)},
    Title{"TOTEC", value(Field::energy, 1e-3)},
    Title{"EPLMT", value(Field::limit)},
    Title{"PMLMT", value(Field::limit)},
    Title{"GPUTL", value(Field::utilization, 0.01)},
    Title{"TENSO", value(Field::tensor_active)},
    Title{"FBUSD", value(Field::memory_used, kMebibyte)},
    Title{"FBTTL", value(Field::memory_total, kMebibyte)},
    Title{"SMCLK", value(Field::compute_clock, 1e6)},
    Title{"MMCLK", value(Field::memory_clock, 1e6)},
    Title{"TMPTR", value(Field::temperature)},
};

// xpu-smi dump and xpumcli dump (intel/xpumanager, doc/smi_user_guide.md): the time of day without a date; energy as a
// counter in joules; one row for each tile where tiles were asked for.
constexpr std::array kXpu{
    Title{"Timestamp", {Role::stamp}},
    Title{"DeviceId", {Role::device}},
    Title{"TileId", {Role::part}},
    Title{"GPU Power (W)", power(PowerKind::average, 0)},
    Title{"GPU Energy Consumed (J)", value(Field::energy)},
    Title{"GPU Utilization (%)", value(Field::utilization, 0.01)},
    Title{"GPU Frequency (MHz)", value(Field::compute_clock, 1e6)},
    Title{"GPU Core Temperature (Celsius Degree)", value(Field::temperature)},
    Title{"GPU Core Temperature (C)", value(Field::temperature)},
    Title{"GPU Memory Used (MiB)", value(Field::memory_used, kMebibyte)},
};

// amd-smi metric|monitor --csv [--watch] (ROCm/amdsmi, amdsmi_cli): the leaves of its tree as columns, units left out.
// socket_power is the firmware's current power where the device has it, else its average: the tool does not say which.
constexpr std::array kAmdCsv{
    Title{"timestamp", {Role::stamp}},
    Title{"gpu", {Role::device}},
    Title{"current_socket_power", power(PowerKind::current, 0)},
    Title{"socket_power", power(PowerKind::unknown, 1)},
    Title{"power_usage", power(PowerKind::unknown, 2)},
    Title{"average_socket_power", power(PowerKind::average, 3)},
    Title{"power_limit", value(Field::limit)},
    Title{"total_energy_consumption", value(Field::energy)},
    Title{"gfx_activity", value(Field::utilization, 0.01)},
    Title{"gfx", value(Field::utilization, 0.01)},
    Title{"gfx_0_clk", value(Field::compute_clock, 1e6)},
    Title{"mem_0_clk", value(Field::memory_clock, 1e6)},
    Title{"hotspot", value(Field::temperature)},
    Title{"used_vram", value(Field::memory_used, kMebibyte)},
    Title{"total_vram", value(Field::memory_total, kMebibyte)},
};

// rocm-smi --showpower … --csv (ROCm/rocm_smi_lib, python_smi_tools/rocm_smi.py): printed once each call, so that the
// times are what the caller put there.
constexpr std::array kRocmCsv{
    Title{"timestamp", {Role::stamp}},
    Title{"time", {Role::stamp}},
    Title{"device", {Role::device}},
    Title{"Current Socket Graphics Package Power (W)", power(PowerKind::current, 0)},
    Title{"Average Graphics Package Power (W)", power(PowerKind::average, 1)},
    Title{"Accumulated Energy (uJ)", value(Field::energy, 1e-6)},
    Title{"Max Graphics Package Power (W)", value(Field::limit)},
    Title{"GPU use (%)", value(Field::utilization, 0.01)},
    Title{"Temperature (Sensor junction) (C)", value(Field::temperature)},
    Title{"VRAM Total Memory (B)", value(Field::memory_total)},
    Title{"VRAM Total Used Memory (B)", value(Field::memory_used)},
};

bool is_dmon_header(std::string_view line) {
  line = trimmed(line);
  if (!line.starts_with('#')) return false;
  std::vector<std::string_view> words;
  split_words(
      line.substr(line.find_first_not_of('#') == std::string_view::npos ? line.size() : line.find_first_not_of('#')),
      words);
  for (const std::string_view word : words) {
    if (word == "gpu") return true;
  }
  return false;
}

bool is_dcgm_header(std::string_view line) {
  line = trimmed(line);
  return line.starts_with("#Entity") || line.starts_with("# Entity");
}

bool is_xpu_header(std::string_view line) {
  return contains_letters(line, "timestamp") && contains_letters(line, "deviceid");
}

bool is_amd_csv_header(std::string_view line) {
  std::vector<std::string_view> fields;
  split_fields(line, line.find(';') != std::string_view::npos ? ';' : ',', fields);
  bool gpu = false;
  bool power = false;
  for (const std::string_view field : fields) {
    gpu = gpu || same_letters(field, "gpu");
    const TableColumn column = find(kAmdCsv, field);
    power = power || column.field == Field::power || column.field == Field::energy;
  }
  return gpu && power;
}

bool is_rocm_csv_header(std::string_view line) {
  return contains_letters(line, "device") &&
         (contains_letters(line, "graphics package power (w)") || contains_letters(line, "accumulated energy (uj)"));
}

}  // namespace

const TableFormat& nvidia_dmon_format() {
  static constexpr TableFormat kFormat{.format = LogFormat::nvidia_smi_dmon,
                                       .vendor = "nvidia",
                                       .cut = Cut::words,
                                       .column = [](std::string_view title) { return find(kDmon, title); },
                                       .is_header = is_dmon_header};
  return kFormat;
}

const TableFormat& dcgmi_dmon_format() {
  static constexpr TableFormat kFormat{.format = LogFormat::dcgmi_dmon,
                                       .vendor = "nvidia",
                                       .cut = Cut::dcgm_words,
                                       .column = [](std::string_view title) { return find(kDcgm, title); },
                                       .is_header = is_dcgm_header};
  return kFormat;
}

const TableFormat& xpu_smi_format() {
  static constexpr TableFormat kFormat{.format = LogFormat::xpu_smi_csv,
                                       .vendor = "intel",
                                       .column = [](std::string_view title) { return find(kXpu, title); },
                                       .is_header = is_xpu_header};
  return kFormat;
}

const TableFormat& amd_smi_csv_format() {
  static constexpr TableFormat kFormat{.format = LogFormat::amd_smi_csv,
                                       .vendor = "amd",
                                       .column = [](std::string_view title) { return find(kAmdCsv, title); },
                                       .is_header = is_amd_csv_header};
  return kFormat;
}

const TableFormat& rocm_smi_csv_format() {
  static constexpr TableFormat kFormat{.format = LogFormat::rocm_smi_csv,
                                       .vendor = "amd",
                                       .column = [](std::string_view title) { return find(kRocmCsv, title); },
                                       .is_header = is_rocm_csv_header};
  return kFormat;
}

}  // namespace flopwatt::telemetry
