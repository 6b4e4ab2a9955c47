#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "flopwatt/base/result.hpp"

struct sqlite3;
struct sqlite3_stmt;

/// SQLite behind Results: values in, rows out.

namespace flopwatt::sweep {

/// A cell: NULL, integer, real or text.
class Value {
 public:
  Value() = default;
  Value(std::int64_t number) : content_{number} {}               // NOLINT: an integer is a cell
  Value(int number) : content_{std::int64_t{number}} {}          // NOLINT
  Value(double number) : content_{number} {}                     // NOLINT
  Value(std::string text) : content_{std::move(text)} {}         // NOLINT
  Value(std::string_view text) : content_{std::string{text}} {}  // NOLINT
  Value(const char* text) : content_{std::string{text}} {}       // NOLINT
  template <class T>
  Value(const std::optional<T>& maybe) {  // NOLINT
    if (maybe) *this = Value{*maybe};
  }

  [[nodiscard]] bool null() const noexcept { return std::holds_alternative<std::monostate>(content_); }
  /// 0, 0.0 and "" for NULL; a number of the other kind is converted, text is not.
  [[nodiscard]] std::int64_t integer() const noexcept;
  [[nodiscard]] double real() const noexcept;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::optional<std::int64_t> maybe_integer() const noexcept;
  [[nodiscard]] std::optional<double> maybe_real() const noexcept;

  bool operator==(const Value&) const = default;

 private:
  friend class Database;
  std::variant<std::monostate, std::int64_t, double, std::string> content_;
};
using Row = std::vector<Value>;

/// An open database file.  Errors: Errc::bad_data at the file for what is no database, damaged, not permitted, or on a
/// full disk; Errc::unavailable for a file that another process holds.  Reading needs no permission to write.
class Database {
 public:
  enum class Mode : std::uint8_t { read, write, create };
  [[nodiscard]] static Result<Database> open(const std::string& path, Mode mode);

  /// Statements without values, one after the other.
  [[nodiscard]] Result<void> execute(const std::string& sql);
  /// One statement; prepared statements are kept, so that repeating one is cheap.
  [[nodiscard]] Result<void> run(const std::string& sql, const Row& values = {});
  [[nodiscard]] Result<std::vector<Row>> rows(const std::string& sql, const Row& values = {});
  /// The first cell of the first row; NULL where there is none.
  [[nodiscard]] Result<Value> value(const std::string& sql, const Row& values = {});
  [[nodiscard]] std::int64_t last_row_id() const noexcept;

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  /// The error of the last call that failed, as ours.
  [[nodiscard]] Error error(int code, std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const noexcept;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const noexcept;
  };
  struct Kept {
    std::string sql;
    std::unique_ptr<sqlite3_stmt, Finalize> statement;
  };
  [[nodiscard]] Result<sqlite3_stmt*> prepare(const std::string& sql, const Row& values);

  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
  std::vector<Kept> statements_;  // goes before the handle
};

/// Rolls back at the end of its scope unless it was committed.
class Transaction {
 public:
  [[nodiscard]] static Result<Transaction> begin(Database& database);
  Transaction(Transaction&& other) noexcept : database_{std::exchange(other.database_, nullptr)} {}
  Transaction& operator=(Transaction&&) = delete;
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction();
  [[nodiscard]] Result<void> commit();

 private:
  explicit Transaction(Database& database) : database_{&database} {}
  Database* database_;
};

}  // namespace flopwatt::sweep
