#pragma once

#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/database.hpp"
#include "flopwatt/sweep/record.hpp"

/// The tables of a store (schema 1) and how records lie in them.

namespace flopwatt::sweep {

/// Creates the tables of an empty store.
extern const char* const kTables;

/// Columns of the records in the order of their cells; a run without its id.
extern const char* const kRunColumns;
extern const char* const kSampleColumns;
extern const char* const kIdleColumns;
extern const char* const kCeilingColumns;
/// "INSERT INTO TABLE(COLUMNS) VALUES(?, …)".
[[nodiscard]] std::string insertion(const std::string& table, const std::string& columns);
/// "UPDATE TABLE SET (COLUMNS) = (?, …)".
[[nodiscard]] std::string update_of(const std::string& table, const std::string& columns);

[[nodiscard]] Row row_of(const RunRecord& run);
[[nodiscard]] Row row_of(const SampleRecord& sample);
[[nodiscard]] Row row_of(const IdleRecord& idle);
[[nodiscard]] Row row_of(const CeilingRecord& ceiling);

/// Cells back; a run's id comes first.  Errc::bad_data at `where` for what no sweep writes: a state or count that is
/// none, an infinity, a sample without time, steps or tokens, a negative rate.
[[nodiscard]] Result<RunRecord> run_of(const Row& row, const std::string& where);
[[nodiscard]] Result<SampleRecord> sample_of(const Row& row, const std::string& where);
[[nodiscard]] Result<IdleRecord> idle_of(const Row& row, const std::string& where);
[[nodiscard]] Result<CeilingRecord> ceiling_of(const Row& row, const std::string& where);

}  // namespace flopwatt::sweep
