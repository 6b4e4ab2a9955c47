#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/sweep/configuration.hpp"
#include "flopwatt/sweep/database.hpp"
#include "flopwatt/sweep/record.hpp"

/// The file that a sweep writes: SQLite in WAL mode, synchronous NORMAL.  What a call here has stored survives a kill
/// of the process at any moment; a loss of power may take the last transactions, never the file.

namespace flopwatt::sweep {

class Store {
 public:
  /// The version of the tables; a store of a newer one is refused.
  static constexpr int kSchema = 1;

  enum class Mode : std::uint8_t {
    read,    ///< an existing store, also while a sweep writes it
    resume,  ///< an existing store or a new one; nobody else may write it meanwhile
  };
  /// Checks the whole file.  Errc::bad_data at the file for what is damaged, cut, no store, or of a newer schema;
  /// Errc::unavailable where another sweep writes it (Mode::resume).
  [[nodiscard]] static Result<Store> open(const std::string& path, Mode mode);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) = delete;
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;
  ~Store();

  [[nodiscard]] const std::string& path() const noexcept { return database_.path(); }

  /// How everything in the store was measured; "" in a new one.
  [[nodiscard]] Result<std::string> protocol();
  /// Remembers a plan.  Errc::bad_data where the store was measured by another protocol, whose samples would not
  /// compare.
  [[nodiscard]] Result<void> add_plan(std::string_view text, const std::string& protocol);

  /// Remembers a model with its config.json, so that a store says by itself what was counted.
  [[nodiscard]] Result<void> add(const Model& model);
  /// SHA-256 of the config → the model.
  [[nodiscard]] Result<std::map<std::string, Model>> models();
  /// Remembers a configuration.
  [[nodiscard]] Result<void> add(const Configuration& configuration);
  struct StoredConfiguration {
    std::string id;
    Configuration configuration;
  };
  /// In the order in which they came.
  [[nodiscard]] Result<std::vector<StoredConfiguration>> configurations();

  /// Inserts a run and sets its id.
  [[nodiscard]] Result<void> begin(RunRecord& run);
  /// Stores what has changed.
  [[nodiscard]] Result<void> update(const RunRecord& run);
  [[nodiscard]] Result<void> add(std::int64_t run, const SampleRecord& sample);
  /// In the order in which they began here.
  [[nodiscard]] Result<std::vector<RunRecord>> runs();
  [[nodiscard]] Result<std::vector<SampleRecord>> samples(std::int64_t run);
  /// Runs that a killed process left behind become interrupted.  For the one that writes the store.
  [[nodiscard]] Result<void> mark_killed();

  [[nodiscard]] Result<void> add(const IdleRecord& idle);
  [[nodiscard]] Result<std::vector<IdleRecord>> idle();
  [[nodiscard]] Result<void> add(const CeilingRecord& ceiling);
  [[nodiscard]] Result<std::vector<CeilingRecord>> ceilings();

  /// Moves the log into the file and empties it, so that the file alone can be copied.
  [[nodiscard]] Result<void> checkpoint();

  [[nodiscard]] Database& database() noexcept { return database_; }

 private:
  Store(Database database, int lock) : database_{std::move(database)}, lock_{lock} {}
  Database database_;
  int lock_ = -1;  ///< a descriptor that holds the writers' lock
};

}  // namespace flopwatt::sweep
