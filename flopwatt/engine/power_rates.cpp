#include <fmt/core.h>

#include <algorithm>
#include <map>

#include "flopwatt/engine/power.hpp"
#include "flopwatt/engine/power_basics.hpp"
#include "flopwatt/io/csv.hpp"
#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {
namespace {

using io::CsvTable;

/// Which columns of the file say what.
struct RateColumns {
  std::size_t duration = 0;
  std::optional<std::size_t> flops, mfu, bytes, mbu, batch;
};

Result<RateColumns> find_columns(const CsvTable& table) {
  RateColumns columns;
  FLOPWATT_TRY(columns.duration, table.require_column("duration_seconds"));
  columns.flops = table.find_column("flops_per_second");
  columns.mfu = table.find_column("mfu");
  columns.bytes = table.find_column("bytes_per_second");
  columns.mbu = table.find_column("mbu");
  columns.batch = table.find_column("batch");
  if (!columns.flops && !columns.mfu) {
    return fail(Errc::bad_data, "has neither a column flops_per_second nor a column mfu", table.where(),
                "add one of them: FLOP/s, or a fraction of the calibration's peak");
  }
  return columns;
}

/// A cell that must hold a number of at least zero.
Result<double> required(const CsvTable& table, std::size_t row, std::size_t column) {
  FLOPWATT_TRY(const std::optional<double> value, table.number(row, column));
  if (!value) {
    const std::string_view cell = table.cell(row, column);
    const bool blank = cell.find_first_not_of(" \t") == std::string_view::npos;
    return fail(table.error(row, column, blank ? "is empty" : fmt::format("'{}' is not a number", base::excerpt(cell)),
                            "give a number"));
  }
  if (*value < 0) return fail(table.error(row, column, "is negative"));
  return *value;
}

/// A fraction: above 1 it is wrong but shown; above 10 it is a percentage.
Result<void> check_fraction(const CsvTable& table, std::size_t row, std::size_t column, double value) {
  constexpr double kLargest = 10;
  if (value <= kLargest) return {};
  return fail(table.error(row, column, fmt::format("is {:g}, beyond {:g}", value, kLargest),
                          "give a fraction of the peak, not percent"));
}

Result<std::optional<double>> optional(const CsvTable& table, std::size_t row, std::optional<std::size_t> column) {
  if (!column) return std::nullopt;
  FLOPWATT_TRY(const std::optional<double> value, table.number(row, *column));
  if (value && *value < 0) return fail(table.error(row, *column, "is negative"));
  return value;
}

/// The row's rates; those in FLOP/s and byte/s go before the ratios.
Result<power::Query> query_of(const CsvTable& table, std::size_t row, const RateColumns& columns,
                              const OpenedPower& opened, power::Query query) {
  if (columns.flops) {
    FLOPWATT_TRY(const double flops, required(table, row, *columns.flops));
    query.flops = flops * units::flop_per_second;
  } else {
    FLOPWATT_TRY(const double mfu, required(table, row, *columns.mfu));
    FLOPWATT_TRY_VOID(check_fraction(table, row, *columns.mfu, mfu));
    FLOPWATT_TRY(query.flops, opened.source.flop_rate(query.dtype, mfu));
  }
  FLOPWATT_TRY(const std::optional<double> bytes, optional(table, row, columns.bytes));
  FLOPWATT_TRY(const std::optional<double> mbu, optional(table, row, columns.mbu));
  if (bytes) {
    query.bytes = *bytes * units::byte_per_second;
  } else if (mbu) {
    FLOPWATT_TRY_VOID(check_fraction(table, row, *columns.mbu, *mbu));
    FLOPWATT_TRY(query.bytes, byte_rate(opened.device, *mbu));
  }
  if (columns.batch) {
    FLOPWATT_TRY(const std::optional<std::int64_t> batch, table.integer(row, *columns.batch));
    if (batch && *batch < 1) return fail(table.error(row, *columns.batch, "is below 1"));
    query.batch = batch;
  }
  return query;
}

void add_up(answers::PowerRows& answer, const answers::PowerRows::Row& row) {
  answer.duration += row.duration;
  answer.energy += row.energy;
  answer.energy_lo += row.prediction.lo * row.duration;
  answer.energy_hi += row.prediction.hi * row.duration;
}

/// Each flag once, with the rows that it concerns and the text of the first of them.
std::vector<answers::Flag> summed_flags(const std::vector<answers::PowerRows::Row>& rows,
                                        std::optional<units::FlopRate> peak,
                                        std::optional<units::Bandwidth> bandwidth) {
  std::vector<answers::Flag> flags;
  std::map<std::string, std::size_t> counts;
  for (const auto& row : rows) {
    std::vector<std::string> seen;
    std::vector<answers::Flag> all = answers::flags_of(row.prediction);
    std::optional<double> mfu;
    std::optional<double> mbu;
    if (peak) mfu = row.flops / *peak;
    if (row.bytes && bandwidth) mbu = *row.bytes / *bandwidth;
    add_ratio_flags(mfu, mbu, all);
    for (const answers::Flag& flag : all) {
      if (std::find(seen.begin(), seen.end(), flag.code) != seen.end()) continue;
      seen.push_back(flag.code);
      if (counts[flag.code]++ == 0)
        flags.push_back({flag.code, fmt::format("first in line {}: {}", row.line, flag.text)});
    }
  }
  for (answers::Flag& flag : flags)
    flag.text = fmt::format("{} of {} rows; {}", counts[flag.code], rows.size(), flag.text);
  return flags;
}

}  // namespace

Result<answers::PowerRows> power_of_rates(const Facts& facts, const PowerOfRatesRequest& request) {
  answers::PowerRows answer;
  FLOPWATT_TRY(const OpenedPower opened, open_power(facts, request.basics, answer.notes));
  FLOPWATT_TRY(const std::string text, io::read_file(request.file));
  FLOPWATT_TRY(const CsvTable table, CsvTable::parse(text, request.file));
  FLOPWATT_TRY(const RateColumns columns, find_columns(table));
  if (table.row_count() == 0) return fail(Errc::bad_data, "has no rows", request.file);

  answer.device = opened.device.name;
  answer.file = request.file;
  answer.query = opened.query;
  answer.query.batch = request.batch;
  answer.calibration = opened.source.used(opened.query.dtype);
  answer.columns = table.columns();
  for (std::size_t i = 0; i < table.row_count(); ++i) {
    answers::PowerRows::Row row;
    row.line = table.line(i);
    FLOPWATT_TRY(const double seconds, required(table, i, columns.duration));
    FLOPWATT_TRY(const power::Query query, query_of(table, i, columns, opened, answer.query));
    auto prediction = opened.source.predict(query);
    if (!prediction) {
      const std::string place = fmt::format("{}:{}", request.file, row.line);
      if (prediction.error().where.empty()) {
        prediction.error().where = place;
      } else {
        prediction.error().what += fmt::format(" ({})", place);  // the fault is the calibration's
      }
      return fail(std::move(prediction).error());
    }
    row.prediction = std::move(*prediction);
    row.duration = seconds * units::second;
    row.flops = query.flops;
    row.bytes = query.bytes;
    row.energy = row.prediction.power * row.duration;
    add_up(answer, row);
    answer.rows.push_back(std::move(row));
    std::vector<std::string> fields;
    for (std::size_t c = 0; c < answer.columns.size(); ++c) fields.emplace_back(table.cell(i, c));
    answer.fields.push_back(std::move(fields));
  }
  if (!(answer.duration > units::Duration{})) return fail(Errc::bad_data, "its durations sum to zero", request.file);
  answer.mean_power = answer.energy / answer.duration;
  std::optional<units::Bandwidth> bandwidth;
  if (opened.device.memory_bandwidth) bandwidth = opened.device.memory_bandwidth->value;
  answer.flags = summed_flags(answer.rows, opened.source.peak(opened.query.dtype), bandwidth);
  if (const auto flag = opened.source.synthetic_flag()) answer.flags.push_back(*flag);
  if (!columns.flops) {
    if (const auto flag = opened.source.peak_flag(opened.query.dtype, false)) answer.flags.push_back(*flag);
  }
  return answer;
}

}  // namespace flopwatt::engine
