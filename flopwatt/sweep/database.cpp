#include "flopwatt/sweep/database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <utility>

namespace flopwatt::sweep {
namespace {

/// Another process may hold the file for the moment of a checkpoint.
constexpr int kBusyMilliseconds = 10'000;

bool damaged(int code) {
  const int primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_FORMAT;
}

/// A file that nobody writes, read without its log and without files beside it; SQLite's URI form.
std::string immutable_uri(const std::string& path) {
  std::string out = "file:";
  for (const char c : path) {
    if (c == '%' || c == '?' || c == '#') {
      out += fmt::format("%{:02X}", static_cast<int>(c));
    } else {
      out += c;
    }
  }
  return out + "?mode=ro&immutable=1";
}

bool has_content(const std::string& path) {
  struct stat file{};
  return ::stat(path.c_str(), &file) == 0 && file.st_size > 0;
}

int bind(sqlite3_stmt* statement, int index, const std::variant<std::monostate, std::int64_t, double, std::string>& v) {
  if (const auto* integer = std::get_if<std::int64_t>(&v)) return sqlite3_bind_int64(statement, index, *integer);
  if (const auto* real = std::get_if<double>(&v)) {
    // SQLite would turn a NaN into NULL in silence: what is missing must be said to be missing.
    return std::isfinite(*real) ? sqlite3_bind_double(statement, index, *real) : SQLITE_MISMATCH;
  }
  if (const auto* text = std::get_if<std::string>(&v)) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT, SQLITE_UTF8);
  }
  return sqlite3_bind_null(statement, index);
}

Value cell(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER:
      return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT:
      return sqlite3_column_double(statement, column);
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement, column));
      return text == nullptr ? Value{""} : Value{std::string{text, size}};
    }
    default:
      return {};
  }
}

}  // namespace

std::int64_t Value::integer() const noexcept { return maybe_integer().value_or(0); }
double Value::real() const noexcept { return maybe_real().value_or(0); }

std::string Value::text() const {
  const auto* text = std::get_if<std::string>(&content_);
  return text == nullptr ? std::string{} : *text;
}

std::optional<std::int64_t> Value::maybe_integer() const noexcept {
  if (const auto* integer = std::get_if<std::int64_t>(&content_)) return *integer;
  const auto* real = std::get_if<double>(&content_);
  if (real == nullptr || !(std::abs(*real) < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(*real);
}

std::optional<double> Value::maybe_real() const noexcept {
  if (const auto* real = std::get_if<double>(&content_)) return *real;
  const auto* integer = std::get_if<std::int64_t>(&content_);
  if (integer == nullptr) return std::nullopt;
  return static_cast<double>(*integer);
}

void Database::Close::operator()(sqlite3* handle) const noexcept { sqlite3_close_v2(handle); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const noexcept { sqlite3_finalize(statement); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  if (path.find('\0') != std::string::npos) return fail(Errc::bad_data, "a file name cannot hold NUL", path);
  int flags = SQLITE_OPEN_NOMUTEX;
  flags |= mode == Mode::read ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  if (mode == Mode::create) flags |= SQLITE_OPEN_CREATE;
  sqlite3* handle = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &handle, flags, nullptr);
  Database database;
  database.path_ = path;
  database.handle_.reset(handle);
  if (code != SQLITE_OK) return fail(database.error(code, "open"));
  sqlite3_extended_result_codes(handle, 1);
  sqlite3_busy_timeout(handle, kBusyMilliseconds);
  if (mode == Mode::read) {
    // A store in WAL mode needs files beside it, which a folder without write permission cannot take.
    const int probed = sqlite3_exec(handle, "SELECT count(*) FROM sqlite_schema", nullptr, nullptr, nullptr);
    const int primary = probed & 0xff;
    if ((primary == SQLITE_CANTOPEN || primary == SQLITE_READONLY) && has_content(path)) {
      if (has_content(path + "-wal")) {
        return fail(Errc::bad_data, "its last samples are in a log (-wal) that cannot be read in this folder", path,
                    "copy the store with its -wal file to a folder that can be written, and read it there");
      }
      database.handle_.reset();
      handle = nullptr;
      const int again = sqlite3_open_v2(immutable_uri(path).c_str(), &handle, flags | SQLITE_OPEN_URI, nullptr);
      database.handle_.reset(handle);
      if (again != SQLITE_OK) return fail(database.error(again, "open"));
      sqlite3_extended_result_codes(handle, 1);
    }
  }
  // The file may come from anywhere: its schema may not call functions, its cells are checked.
  FLOPWATT_TRY_VOID(database.execute("PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON; PRAGMA foreign_keys=ON"));
  return database;
}

Error Database::error(int code, std::string_view doing) const {
  const std::string said = handle_ ? sqlite3_errmsg(handle_.get()) : sqlite3_errstr(code);
  const bool no_space = handle_ && (code & 0xff) == SQLITE_IOERR && sqlite3_system_errno(handle_.get()) == ENOSPC;
  switch (no_space ? SQLITE_FULL : code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
      return {Errc::bad_data, fmt::format("no store, or a damaged one ({})", said), path_,
              "restore it from a copy, or measure again into a new one"};
    case SQLITE_CANTOPEN:
      return {Errc::bad_data, "cannot be opened: no such file, a folder, or no permission", path_, "check the path"};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return {Errc::bad_data, "cannot be written: no permission", path_, "check the permissions"};
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {Errc::unavailable, "another process holds it", path_, "wait for it to end"};
    case SQLITE_FULL:
      return {Errc::bad_data, "the disk is full", path_, "free some space and run again"};
    case SQLITE_IOERR:
      return {Errc::bad_data, fmt::format("cannot {}: {}", doing, said), path_,
              "check the disk, a quota on it, and ulimit -f"};
    default:
      return {Errc::bad_data, fmt::format("cannot {}: {}", doing, said), path_, "is it a store of a sweep?"};
  }
}

Result<void> Database::execute(const std::string& sql) {
  const int code = sqlite3_exec(handle_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail(error(sqlite3_extended_errcode(handle_.get()), damaged(code) ? "read" : "run"));
  return {};
}

Result<sqlite3_stmt*> Database::prepare(const std::string& sql, const Row& values) {
  auto kept = std::find_if(statements_.begin(), statements_.end(), [&](const Kept& k) { return k.sql == sql; });
  if (kept == statements_.end()) {
    sqlite3_stmt* statement = nullptr;
    const int code = sqlite3_prepare_v2(handle_.get(), sql.c_str(), -1, &statement, nullptr);
    if (code != SQLITE_OK) return fail(error(code, "read"));
    statements_.push_back({sql, std::unique_ptr<sqlite3_stmt, Finalize>{statement}});
    kept = statements_.end() - 1;
  }
  sqlite3_stmt* statement = kept->statement.get();
  sqlite3_reset(statement);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int code = bind(statement, static_cast<int>(i) + 1, values[i].content_);
    if (code == SQLITE_MISMATCH) {
      return fail(Errc::internal, fmt::format("value {} of '{}' is not finite", i + 1, base::excerpt(sql)), path_);
    }
    if (code != SQLITE_OK) return fail(error(code, "write"));
  }
  return statement;
}

Result<void> Database::run(const std::string& sql, const Row& values) {
  FLOPWATT_TRY(const auto ignored, rows(sql, values));
  static_cast<void>(ignored);
  return {};
}

Result<std::vector<Row>> Database::rows(const std::string& sql, const Row& values) {
  FLOPWATT_TRY(sqlite3_stmt * statement, prepare(sql, values));
  std::vector<Row> out;
  int code = sqlite3_step(statement);
  const int columns = sqlite3_column_count(statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(statement)) {
    Row& row = out.emplace_back();
    row.reserve(static_cast<std::size_t>(columns));
    for (int i = 0; i < columns; ++i) row.push_back(cell(statement, i));
  }
  if (code != SQLITE_DONE) {
    Error wrong = error(code, "read or write");
    sqlite3_reset(statement);
    return fail(std::move(wrong));
  }
  sqlite3_reset(statement);
  return out;
}

Result<Value> Database::value(const std::string& sql, const Row& values) {
  FLOPWATT_TRY(auto found, rows(sql, values));
  if (found.empty() || found.front().empty()) return Value{};
  return std::move(found.front().front());
}

std::int64_t Database::last_row_id() const noexcept { return sqlite3_last_insert_rowid(handle_.get()); }

Result<Transaction> Transaction::begin(Database& database) {
  FLOPWATT_TRY_VOID(database.run("BEGIN IMMEDIATE"));
  return Transaction{database};
}

Transaction::~Transaction() {
  if (database_ != nullptr) static_cast<void>(database_->run("ROLLBACK"));
}

Result<void> Transaction::commit() {
  FLOPWATT_TRY_VOID(database_->run("COMMIT"));
  database_ = nullptr;
  return {};
}

}  // namespace flopwatt::sweep
