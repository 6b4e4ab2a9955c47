#include "flopwatt/audit/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace flopwatt::audit {
namespace {

/// Steps of each configuration, counted once.
class Steps {
 public:
  explicit Steps(const model::Catalogue& models) : models_{models} {}

  std::optional<work::Totals> of(const dataset::Observation& row) {
    const auto whole = [](const std::optional<double>& value) -> std::optional<std::int64_t> {
      if (!value || !(*value >= 1) || *value > 1e9 || *value != std::floor(*value)) return std::nullopt;
      return static_cast<std::int64_t>(*value);
    };
    const auto batch = whole(row.batch);
    const auto sequence = whole(row.sequence);
    if (!row.precision || !batch || !sequence) return std::nullopt;
    const auto [entry, fresh] = steps_.try_emplace(std::tuple{row.model, *row.precision, *batch, *sequence});
    if (fresh) {
      const auto [architecture, unseen] = architectures_.try_emplace(row.model, std::nullopt);
      if (unseen) {
        if (auto found = models_.find(row.model)) {
          architecture->second = std::move(*found);
        } else {
          unknown.push_back(row.model);
        }
      }
      if (architecture->second) {
        work::Workload workload;
        workload.batch = *batch;
        workload.sequence = *sequence;
        workload.precision = workload.optimizer_precision = *row.precision;
        if (const auto ledger = work::count(*architecture->second, workload)) entry->second = ledger->totals();
      }
    }
    return entry->second;
  }

  std::vector<std::string> unknown;  ///< models that the catalogue lacks

 private:
  const model::Catalogue& models_;
  std::map<std::string, std::optional<model::Architecture>> architectures_;
  std::map<std::tuple<std::string, units::Precision, std::int64_t, std::int64_t>, std::optional<work::Totals>> steps_;
};

/// Spells runs of neighbouring lines as "FILE:FIRST-LAST".
std::vector<std::string> places(const dataset::Dataset& data, std::vector<const dataset::Observation*> rows) {
  std::sort(rows.begin(), rows.end(),
            [](const auto* a, const auto* b) { return std::tie(a->file, a->line) < std::tie(b->file, b->line); });
  std::vector<std::string> out;
  for (std::size_t first = 0; first < rows.size();) {
    std::size_t last = first;
    while (last + 1 < rows.size() && rows[last + 1]->file == rows[first]->file &&
           rows[last + 1]->line <= rows[last]->line + 1) {
      ++last;
    }
    out.push_back(data.place(*rows[first]));
    if (rows[last]->line > rows[first]->line) out.back() += fmt::format("-{}", rows[last]->line);
    first = last + 1;
  }
  return out;
}

}  // namespace

std::optional<units::FlopRate> Row::rate() const noexcept {
  if (!step || !step_time || !(*step_time > units::Duration{})) return std::nullopt;
  return step->step.to_double() * units::flop / *step_time;
}

Subject examine(const dataset::Dataset& dataset, const device::Catalogue& devices, const model::Catalogue& models) {
  Subject subject;
  subject.dataset = &dataset;
  subject.notes = dataset.notes;
  const dataset::Groups groups = dataset::configurations(dataset.rows);
  subject.configurations = groups.count;
  Steps steps{models};
  for (std::size_t i = 0; i < dataset.rows.size(); ++i) {
    const dataset::Observation& row = dataset.rows[i];
    subject.rows.push_back({&row, groups.of_row[i], steps.of(row), dataset::step_time(row)});
  }
  for (const std::string& model : steps.unknown) {
    subject.notes.push_back(fmt::format("model \"{}\" is not in the catalogue: its rows were not counted", model));
  }

  if (auto device = devices.resolve(dataset.device)) {
    for (const device::Device* variant : devices.find_all(dataset.device)) {
      if (variant->board_limit && (!subject.limit || variant->board_limit->value > *subject.limit)) {
        subject.limit = variant->board_limit->value;
      }
      if (variant->memory_bandwidth && (!subject.bandwidth || variant->memory_bandwidth->value < *subject.bandwidth)) {
        subject.bandwidth = variant->memory_bandwidth->value;
      }
    }
    subject.device = std::move(*device);
  } else {
    subject.notes.push_back(devices.not_here(dataset.device) + ": peaks and limit were not checked");
  }

  double idle_watts = 0;
  std::size_t idle_rows = 0;
  for (const dataset::Observation& row : dataset.idle) {
    if (!row.power) continue;
    idle_watts += row.power->in(units::watt);
    ++idle_rows;
  }
  if (idle_rows > 0) subject.idle = idle_watts / static_cast<double>(idle_rows) * units::watt;
  return subject;
}

void Findings::add(std::string_view code, Severity severity, const std::vector<const dataset::Observation*>& rows,
                   std::vector<Evidence> evidence, std::string text, std::string remedy) {
  findings_.push_back({.code = std::string{code},
                       .severity = severity,
                       .device = subject_.dataset->device,
                       .places = places(*subject_.dataset, rows),
                       .rows = rows.size(),
                       .evidence = std::move(evidence),
                       .text = std::move(text),
                       .remedy = std::move(remedy)});
}

std::string describe(const device::Peak& peak) {
  std::string path{device::name(peak.path)};
  std::replace(path.begin(), path.end(), '_', ' ');
  return fmt::format("{} {}, {} accumulation", units::name(peak.precision), path, device::name(peak.accumulate));
}

}  // namespace flopwatt::audit
