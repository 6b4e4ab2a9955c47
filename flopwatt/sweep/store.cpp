#include "flopwatt/sweep/store.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "flopwatt/io/file.hpp"
#include "flopwatt/io/hash.hpp"
#include "flopwatt/sweep/tables.hpp"

namespace flopwatt::sweep {
namespace {

/// "flwa": tells a store from any other SQLite file.
constexpr std::int64_t kApplication = 0x666c7761;

/// The lock that keeps two sweeps from writing one store.  flock, so that it is free of the POSIX locks of SQLite and
/// goes with the process, however that ends.
Result<int> lock(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (descriptor < 0) {
    return fail(Errc::bad_data, fmt::format("cannot be opened for writing: {}", std::strerror(errno)), path,
                "check the path and the permissions");
  }
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(descriptor);
    return fail(Errc::unavailable, "another sweep writes this store", path,
                "wait for it, or give this one a store of its own and merge them later");
  }
  return descriptor;
}

Result<void> create_tables(Database& database) {
  FLOPWATT_TRY_VOID(database.execute("BEGIN IMMEDIATE"));
  FLOPWATT_TRY_VOID(database.execute(kTables));
  FLOPWATT_TRY_VOID(database.execute(
      fmt::format("PRAGMA application_id={}; PRAGMA user_version={}; COMMIT", kApplication, Store::kSchema)));
  return {};
}

/// What SQLite does not see itself: a cut within the last page, which it would fill up with zeros.
Result<void> check_size(Database& database) {
  const std::string& path = database.path();
  FLOPWATT_TRY(const Value page_size, database.value("PRAGMA page_size"));
  FLOPWATT_TRY(const Value page_count, database.value("PRAGMA page_count"));
  struct stat file{};
  struct stat log{};
  if (::stat(path.c_str(), &file) != 0) return {};
  const bool logged = ::stat((path + "-wal").c_str(), &log) == 0 && log.st_size > 0;  // may hold pages beyond the end
  const std::int64_t size = file.st_size;
  if (size % page_size.integer() == 0 && (logged || size >= page_count.integer() * page_size.integer())) return {};
  return fail(Errc::bad_data,
              fmt::format("is cut: {} bytes of {} pages of {} bytes", size, page_count.integer(), page_size.integer()),
              path, "restore it from a copy, or measure again into a new one");
}

/// What is wrong with a file that SQLite opens, if anything; true for a new one without tables.
Result<bool> check(Database& database) {
  const std::string& path = database.path();
  FLOPWATT_TRY(const Value application, database.value("PRAGMA application_id"));
  FLOPWATT_TRY(const Value schema, database.value("PRAGMA user_version"));
  FLOPWATT_TRY(const Value tables, database.value("SELECT count(*) FROM sqlite_schema"));
  if (application.integer() == 0 && schema.integer() == 0 && tables.integer() == 0) return true;
  if (application.integer() != kApplication) {
    return fail(Errc::bad_data, "is an SQLite file, but no store of a sweep", path, "name the store");
  }
  if (schema.integer() != Store::kSchema) {
    return fail(Errc::bad_data,
                fmt::format("is a store of schema {}, this program knows {}", schema.integer(), Store::kSchema), path,
                "use the flopwatt that wrote it");
  }
  FLOPWATT_TRY_VOID(check_size(database));
  FLOPWATT_TRY(const Value fault, database.value("PRAGMA quick_check(1)"));
  if (fault.text() != "ok") {
    return fail(Errc::bad_data, fmt::format("is damaged or cut: {}", base::excerpt(fault.text(), 120)), path,
                "restore it from a copy, or measure again into a new one");
  }
  return false;
}

}  // namespace

Store::Store(Store&& other) noexcept : database_{std::move(other.database_)}, lock_{std::exchange(other.lock_, -1)} {}

Store::~Store() {
  // The database goes first: closing any descriptor of the file drops the locks that SQLite holds on it.
  {
    const Database closing = std::move(database_);
  }
  if (lock_ >= 0) ::close(lock_);
}

Result<Store> Store::open(const std::string& path, Mode mode) {
  if (io::is_folder(path)) return fail(Errc::bad_data, "is a folder, no store", path, "name a file");
  int held = -1;
  if (mode == Mode::resume) {
    FLOPWATT_TRY(held, lock(path));
  }
  // Reading a log that was not moved into the file yet needs write access; a read-only copy has none left.
  Result<Database> database = Database::open(path, Database::Mode::write);
  if (mode == Mode::read) {
    const auto readable = [&]() -> Result<void> {
      if (!database) return fail(database.error());
      FLOPWATT_TRY(const Value ignored, database->value("SELECT count(*) FROM sqlite_schema"));
      static_cast<void>(ignored);
      return {};
    }();
    if (!readable && readable.error().code == Errc::bad_data) database = Database::open(path, Database::Mode::read);
  }
  if (!database) {
    if (held >= 0) ::close(held);
    return fail(std::move(database).error());
  }
  Store store{*std::move(database), held};
  FLOPWATT_TRY(const bool fresh, check(store.database_));
  if (fresh && mode == Mode::read) {
    return fail(Errc::bad_data, "is empty: no store of a sweep", path, "name the store that a sweep wrote");
  }
  if (mode == Mode::resume) {
    FLOPWATT_TRY_VOID(store.database_.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL"));
    if (fresh) FLOPWATT_TRY_VOID(create_tables(store.database_));
  }
  return store;
}

Result<std::string> Store::protocol() {
  FLOPWATT_TRY(const Value value, database_.value("SELECT value FROM setting WHERE key='protocol'"));
  return value.text();
}

Result<void> Store::add_plan(std::string_view text, const std::string& protocol) {
  FLOPWATT_TRY(const std::string stored, this->protocol());
  if (!stored.empty() && stored != protocol) {
    return fail(Errc::bad_data, fmt::format("was measured by another protocol: {}, now {}", stored, protocol), path(),
                "keep the protocol, or measure into another store");
  }
  FLOPWATT_TRY(Transaction transaction, Transaction::begin(database_));
  FLOPWATT_TRY_VOID(database_.run("INSERT OR IGNORE INTO setting VALUES('protocol', ?)", {protocol}));
  FLOPWATT_TRY_VOID(database_.run("INSERT OR IGNORE INTO plan VALUES(?, ?)", {io::sha256_hex(text), text}));
  return transaction.commit();
}

Result<void> Store::add(const Model& model) {
  return database_.run("INSERT OR IGNORE INTO model VALUES(?, ?, ?)",
                       {io::sha256_hex(model.config), model.name, model.config});
}

Result<std::map<std::string, Model>> Store::models() {
  FLOPWATT_TRY(const auto rows, database_.rows("SELECT config_sha256, name, config FROM model"));
  std::map<std::string, Model> out;
  for (const Row& row : rows) {
    out.emplace(row[0].text(),
                Model{.word = row[1].text(), .name = row[1].text(), .config = row[2].text(), .weights = ""});
  }
  return out;
}

Result<void> Store::add(const Configuration& configuration) {
  return database_.run("INSERT OR IGNORE INTO configuration VALUES(?, ?)",
                       {configuration.id(), configuration.canonical()});
}

Result<std::vector<Store::StoredConfiguration>> Store::configurations() {
  FLOPWATT_TRY(const auto rows, database_.rows("SELECT id, canonical FROM configuration ORDER BY rowid"));
  std::vector<StoredConfiguration> out;
  for (const Row& row : rows) {
    FLOPWATT_TRY(Configuration configuration, read_configuration(row[1].text(), path()));
    out.push_back({row[0].text(), std::move(configuration)});
  }
  return out;
}

Result<void> Store::begin(RunRecord& run) {
  FLOPWATT_TRY_VOID(database_.run(insertion("run", kRunColumns), row_of(run)));
  run.id = database_.last_row_id();
  return {};
}

Result<void> Store::update(const RunRecord& run) {
  Row row = row_of(run);
  row.emplace_back(run.id);
  return database_.run(update_of("run", kRunColumns) + " WHERE id=?", row);
}

Result<void> Store::add(std::int64_t run, const SampleRecord& sample) {
  static const std::string sql = insertion("sample", std::string{"run, "} + kSampleColumns);
  Row row{run};
  for (Value& value : row_of(sample)) row.push_back(std::move(value));
  return database_.run(sql, row);
}

Result<std::vector<RunRecord>> Store::runs() {
  FLOPWATT_TRY(const auto rows, database_.rows(fmt::format("SELECT id, {} FROM run ORDER BY id", kRunColumns)));
  std::vector<RunRecord> out;
  for (const Row& row : rows) {
    FLOPWATT_TRY(out.emplace_back(), run_of(row, path()));
  }
  return out;
}

Result<std::vector<SampleRecord>> Store::samples(std::int64_t run) {
  static const std::string sql = fmt::format("SELECT {} FROM sample WHERE run=? ORDER BY number", kSampleColumns);
  FLOPWATT_TRY(const auto rows, database_.rows(sql, {run}));
  std::vector<SampleRecord> out;
  out.reserve(rows.size());
  for (const Row& row : rows) {
    Result<SampleRecord> sample = sample_of(row, path());
    if (!sample) {
      Error wrong = std::move(sample).error();
      wrong.what = fmt::format("run {}, {}", run, wrong.what);
      return fail(std::move(wrong));
    }
    out.push_back(*std::move(sample));
  }
  return out;
}

Result<void> Store::mark_killed() {
  return database_.run("UPDATE run SET state=?, reason=? WHERE state=?",
                       {name(RunState::interrupted), reason::kKilled, name(RunState::running)});
}

Result<void> Store::add(const IdleRecord& idle) { return database_.run(insertion("idle", kIdleColumns), row_of(idle)); }

Result<std::vector<IdleRecord>> Store::idle() {
  FLOPWATT_TRY(const auto rows,
               database_.rows(fmt::format("SELECT {} FROM idle ORDER BY host, begin_unix_seconds", kIdleColumns)));
  std::vector<IdleRecord> out;
  for (const Row& row : rows) {
    FLOPWATT_TRY(out.emplace_back(), idle_of(row, path()));
  }
  return out;
}

Result<void> Store::add(const CeilingRecord& ceiling) {
  return database_.run(insertion("ceiling", kCeilingColumns).replace(0, 6, "REPLACE"), row_of(ceiling));
}

Result<std::vector<CeilingRecord>> Store::ceilings() {
  FLOPWATT_TRY(const auto rows, database_.rows(fmt::format("SELECT {} FROM ceiling ORDER BY host, device_name, dtype",
                                                           kCeilingColumns)));
  std::vector<CeilingRecord> out;
  for (const Row& row : rows) {
    FLOPWATT_TRY(out.emplace_back(), ceiling_of(row, path()));
  }
  return out;
}

Result<void> Store::checkpoint() {
  FLOPWATT_TRY(const auto ignored, database_.rows("PRAGMA wal_checkpoint(TRUNCATE)"));
  static_cast<void>(ignored);
  return {};
}

}  // namespace flopwatt::sweep
