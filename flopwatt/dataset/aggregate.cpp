#include <cctype>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "flopwatt/dataset/dataset.hpp"

namespace flopwatt::dataset {
namespace {

/// Two optionals order with the absent one first; NaN never occurs (the reader refuses or drops it).
using Number = std::optional<double>;

auto configuration_key(const Observation& o) {
  return std::tuple{o.model, o.dtype, o.batch, o.context_window, o.configuration_id};
}

auto run_key(const Observation& o) {
  return std::tuple{o.file,
                    o.model,
                    o.dtype,
                    o.batch,
                    o.sequence,
                    o.context_window,
                    o.learning_rate,
                    o.warmup_iterations,
                    o.cooldown_seconds,
                    o.io_latency_enabled,
                    o.io_latency_profile,
                    o.io_latency_pattern,
                    o.power_meter_available,
                    o.configuration_id,
                    o.run_id};
}

/// Mean of a member over the rows that have it.  `zero` carries the unit.
template <class T>
void mean_of(std::span<const Observation* const> rows, std::optional<T> Observation::* member, Observation& out) {
  T sum{};
  std::size_t n = 0;
  for (const Observation* row : rows) {
    if (!(row->*member)) continue;
    sum += *(row->*member);
    ++n;
  }
  (out.*member).reset();
  if (n > 0) out.*member = sum / static_cast<double>(n);
}

Observation mean_of_run(std::span<const Observation* const> rows) {
  Observation out = *rows.front();  // what was set is the same in all of them
  mean_of(rows, &Observation::tokens_per_second, out);
  for (const auto member :
       {&Observation::mfu, &Observation::mfu_formula, &Observation::gpu_utilization, &Observation::memory_utilization,
        &Observation::temperature_celsius, &Observation::meter_reactive_power_var,
        &Observation::meter_apparent_power_va, &Observation::layers, &Observation::heads, &Observation::head_dim}) {
    mean_of(rows, member, out);
  }
  mean_of(rows, &Observation::memory_used, out);
  mean_of(rows, &Observation::power, out);
  mean_of(rows, &Observation::meter_active_power, out);
  mean_of(rows, &Observation::formula_flops_per_token, out);
  mean_of(rows, &Observation::counted_flops, out);
  mean_of(rows, &Observation::io_latency, out);
  mean_of(rows, &Observation::io_latency_configured, out);
  out.samples = static_cast<double>(rows.size());

  double squares = 0;
  std::size_t n = 0;
  for (const Observation* row : rows) {
    if (!row->power) continue;
    const double deviation = (*row->power - *out.power).in(units::watt);
    squares += deviation * deviation;
    ++n;
  }
  if (n > 1) out.power_sd = std::sqrt(squares / static_cast<double>(n - 1)) * units::watt;
  return out;
}

std::vector<Observation> aggregate_rows(const std::vector<File>& files, std::vector<Observation> rows,
                                        Averaged& averaged) {
  std::map<decltype(run_key(rows.front())), std::vector<const Observation*>> runs;
  std::vector<std::vector<const Observation*>*> in_order;
  std::vector<Observation> out;
  for (const Observation& row : rows) {
    if (files[row.file].layout != Layout::raw) continue;
    auto& run = runs[run_key(row)];
    if (run.empty()) in_order.push_back(&run);
    run.push_back(&row);
  }
  if (runs.empty()) return rows;
  for (const Observation& row : rows) {
    if (files[row.file].layout != Layout::raw) out.push_back(row);
  }
  for (const auto* run : in_order) out.push_back(mean_of_run(*run));
  averaged.runs += in_order.size();
  averaged.samples += rows.size() - (out.size() - in_order.size());
  return out;
}

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c == ' ' || c == '-' || c == '_') continue;
    out.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return out;
}

}  // namespace

bool same_device(std::string_view a, std::string_view b) { return folded(a) == folded(b); }

std::vector<Dataset> merge(std::vector<Dataset> datasets) {
  std::vector<Dataset> out;
  for (Dataset& next : datasets) {
    Dataset* home = nullptr;
    for (Dataset& candidate : out) {
      if (same_device(candidate.device, next.device)) home = &candidate;
    }
    if (home == nullptr) {
      out.push_back(std::move(next));
      continue;
    }
    const std::size_t offset = home->files.size();
    for (auto* rows : {&next.rows, &next.idle}) {
      for (Observation& row : *rows) row.file += offset;
    }
    const auto append = [](auto& to, auto& from) {
      to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
    };
    append(home->files, next.files);
    append(home->rows, next.rows);
    append(home->idle, next.idle);
    append(home->dropped, next.dropped);
    append(home->notes, next.notes);
  }
  return out;
}

Dataset aggregate(Dataset dataset) {
  dataset.rows = aggregate_rows(dataset.files, std::move(dataset.rows), dataset.averaged);
  dataset.idle = aggregate_rows(dataset.files, std::move(dataset.idle), dataset.averaged);
  return dataset;
}

Groups configurations(std::span<const Observation> rows) {
  Groups groups;
  std::map<decltype(configuration_key(rows.front())), std::size_t> numbers;
  for (const Observation& row : rows) {
    const auto [entry, fresh] = numbers.try_emplace(configuration_key(row), groups.count);
    if (fresh) ++groups.count;
    groups.of_row.push_back(entry->second);
  }
  return groups;
}

}  // namespace flopwatt::dataset
