#include "flopwatt/telemetry/logs/sacct.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "flopwatt/telemetry/energy.hpp"
#include "flopwatt/telemetry/logs/cell.hpp"
#include "flopwatt/telemetry/logs/log_builder.hpp"

namespace flopwatt::telemetry {
namespace {

/// Energies beyond this are Slurm's 64-bit "no value".
constexpr double kNoValue = 1e18;

class Reader {
 public:
  Reader(std::string_view where, const LogOptions& options) : builder_{LogFormat::slurm_sacct, where, options} {}

  Result<Log> run(std::span<const Line> lines) {
    for (const Line& line : lines) {
      split_fields(line.text, '|', fields_);
      if (is_sacct_header(line.text)) {
        titles_.assign(fields_.begin(), fields_.end());
      } else if (fields_.size() != titles_.size() || !take()) {
        builder_.skip_line(line.number);
      }
    }
    builder_.note("Slurm's energy is that of whole nodes: on a shared node it holds what other jobs drew.");
    if (assumed_zone_) builder_.note("Slurm's times name no zone and are taken as UTC, or as --timezone says.");
    return std::move(builder_).finish();
  }

 private:
  std::string_view field(std::string_view title) const {
    for (std::size_t i = 0; i < titles_.size(); ++i) {
      if (same_letters(titles_[i], title)) return fields_[i];
    }
    return {};
  }

  /// On the clock of UTC: jobs overlap, and the builder takes a step back of an hour for the end of summer time.
  std::optional<Stamp> stamp(std::string_view title) {
    std::optional<Stamp> read = parse_stamp(field(title));
    if (!read || (read->kind != StampKind::local && read->kind != StampKind::utc)) return std::nullopt;
    if (read->kind == StampKind::local) {
      assumed_zone_ = true;
      read->time -= builder_.options().utc_offset.value_or(std::chrono::seconds{0});
      read->kind = StampKind::utc;
    }
    return read;
  }

  bool take() {
    const std::string_view id = field("JobID");
    const std::optional<Stamp> start = stamp("Start");
    const std::optional<Stamp> end = stamp("End");
    if (id.empty() || !start || !end || end->time < start->time) return false;
    Reading<double> joules = read_cell(field("ConsumedEnergyRaw"), Dimension::energy, 1);
    if (joules && (*joules <= 0 || *joules > kNoValue)) joules = Absence::not_supported;
    if (!joules && joules.reason() == Absence::garbage) return false;
    const Reading<double> nodes = read_cell(field("NNodes"), Dimension::number, 1);
    DeviceInfo info;
    info.source = key(LogFormat::slurm_sacct);
    info.name = fmt::format("job {}", id);
    info.path = fmt::format("slurm:{}", id);
    info.scope = Scope::node;
    info.index = builder_.device_count();
    info.counter.max_power = std::max(1.0, nodes ? *nodes : 1.0) * plausible_power(Scope::node);
    const std::string job{id.substr(0, id.find('.'))};
    if (job.size() < id.size()) {
      for (std::size_t i = 0; i < builder_.device_count(); ++i) {
        if (builder_.info(i).path == "slurm:" + job) info.part_of = builder_.info(i).index;
      }
    }
    const std::size_t device = builder_.device(id, info);
    Snapshot sample;
    sample.power = {Absence::not_asked, PowerKind::counter, Scope::node};
    sample.energy = joules ? Reading<units::Energy>{units::Energy{}} : Reading<units::Energy>{joules.reason()};
    if (!builder_.add(device, start, sample)) return false;
    if (joules) sample.energy = *joules * units::joule;
    return builder_.add(device, end, sample);
  }

  LogBuilder builder_;
  std::vector<std::string> titles_;
  std::vector<std::string_view> fields_;
  bool assumed_zone_ = false;
};

}  // namespace

bool is_sacct_header(std::string_view line) {
  return contains_letters(line, "jobid|") && contains_letters(line, "consumedenergyraw");
}

Result<Log> read_sacct(std::span<const Line> lines, std::string_view where, const LogOptions& options) {
  return Reader{where, options}.run(lines);
}

}  // namespace flopwatt::telemetry
