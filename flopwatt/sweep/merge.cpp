#include "flopwatt/sweep/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "flopwatt/sweep/tables.hpp"

namespace flopwatt::sweep {
namespace {

using RepeatKey = std::pair<std::string, std::int64_t>;

class Merging {
 public:
  Merging(Store& into, Store& from) : into_{into}, from_{from} {}

  Result<Merged> run() {
    FLOPWATT_TRY(Transaction transaction, Transaction::begin(into_.database()));
    FLOPWATT_TRY_VOID(copy_plans());
    FLOPWATT_TRY_VOID(copy_configurations());
    FLOPWATT_TRY_VOID(copy_runs());
    FLOPWATT_TRY_VOID(copy_readings());
    FLOPWATT_TRY_VOID(transaction.commit());
    return merged_;
  }

 private:
  [[nodiscard]] tl::unexpected<Error> conflict(const std::string& what, std::string remedy) const {
    return fail(Errc::bad_data, fmt::format("{}, against {}", what, into_.path()), from_.path(), std::move(remedy));
  }

  Result<void> copy_plans() {
    FLOPWATT_TRY(const std::string theirs, from_.protocol());
    FLOPWATT_TRY(const std::string ours, into_.protocol());
    if (!theirs.empty() && !ours.empty() && ours != theirs) {
      return conflict(fmt::format("was measured by another protocol: {} against {}", theirs, ours),
                      "merge stores of one protocol");
    }
    FLOPWATT_TRY(const auto settings, from_.database().rows("SELECT key, value FROM setting"));
    for (const Row& row : settings) {
      FLOPWATT_TRY_VOID(into_.database().run("INSERT OR IGNORE INTO setting VALUES(?, ?)", row));
    }
    FLOPWATT_TRY(const auto plans, from_.database().rows("SELECT sha256, text FROM plan"));
    for (const Row& row : plans) {
      FLOPWATT_TRY_VOID(into_.database().run("INSERT OR IGNORE INTO plan VALUES(?, ?)", row));
    }
    return {};
  }

  Result<void> copy_configurations() {
    FLOPWATT_TRY(const auto models, from_.database().rows("SELECT config_sha256, name, config FROM model"));
    for (const Row& row : models) {
      FLOPWATT_TRY_VOID(into_.database().run("INSERT OR IGNORE INTO model VALUES(?, ?, ?)", row));
    }
    FLOPWATT_TRY(const auto theirs, from_.configurations());
    for (const Store::StoredConfiguration& one : theirs) {
      if (one.configuration.id() != one.id) {
        return conflict(fmt::format("configuration {} is not what its identity says", one.id),
                        "restore the store from a copy");
      }
      FLOPWATT_TRY_VOID(into_.add(one.configuration));
    }
    return {};
  }

  Result<void> copy_samples(std::int64_t run, std::vector<SampleRecord> samples) {
    for (const SampleRecord& sample : samples) FLOPWATT_TRY_VOID(into_.add(run, sample));
    merged_.samples += static_cast<std::int64_t>(samples.size());
    return {};
  }

  /// A run that both stores know: one record must continue the other.
  Result<void> reconcile(const RunRecord& theirs, const RunRecord& ours) {
    FLOPWATT_TRY(const auto their_samples, from_.samples(theirs.id));
    FLOPWATT_TRY(const auto our_samples, into_.samples(ours.id));
    const std::size_t common = std::min(their_samples.size(), our_samples.size());
    if (!std::equal(our_samples.begin(), our_samples.begin() + static_cast<std::ptrdiff_t>(common),
                    their_samples.begin())) {
      return conflict(fmt::format("run {} has other samples", theirs.uid), "leave out the store that was changed");
    }
    const bool ended = theirs.state == RunState::finished && ours.state != RunState::finished;
    if (their_samples.size() < our_samples.size() || (their_samples.size() == our_samples.size() && !ended)) {
      ++merged_.known;
      return {};
    }
    ++merged_.renewed;
    RunRecord renewed = theirs;
    renewed.id = ours.id;
    FLOPWATT_TRY_VOID(into_.update(renewed));
    return copy_samples(ours.id, {their_samples.begin() + static_cast<std::ptrdiff_t>(common), their_samples.end()});
  }

  Result<void> copy_runs() {
    std::map<std::string, RunRecord> known;
    std::set<RepeatKey> finished;
    FLOPWATT_TRY(auto ours, into_.runs());
    for (RunRecord& run : ours) {
      if (run.state == RunState::finished) finished.emplace(run.configuration, run.repeat);
      known.emplace(run.uid, std::move(run));
    }
    FLOPWATT_TRY(const auto theirs, from_.runs());
    for (const RunRecord& run : theirs) {
      if (const auto same = known.find(run.uid); same != known.end()) {
        FLOPWATT_TRY_VOID(reconcile(run, same->second));
        continue;
      }
      if (run.state == RunState::finished && !finished.emplace(run.configuration, run.repeat).second) {
        ++merged_.repeated;
        continue;
      }
      FLOPWATT_TRY(auto samples, from_.samples(run.id));
      RunRecord copy = run;
      FLOPWATT_TRY_VOID(into_.begin(copy));
      FLOPWATT_TRY_VOID(copy_samples(copy.id, std::move(samples)));
      ++merged_.runs;
    }
    return {};
  }

  Result<void> copy_readings() {
    FLOPWATT_TRY(const auto idle, from_.idle());
    for (const IdleRecord& reading : idle) {
      FLOPWATT_TRY_VOID(
          into_.database().run(insertion("idle", kIdleColumns).replace(0, 6, "INSERT OR IGNORE"), row_of(reading)));
    }
    FLOPWATT_TRY(const auto ceilings, from_.ceilings());
    for (const CeilingRecord& ceiling : ceilings) {
      FLOPWATT_TRY_VOID(into_.database().run(insertion("ceiling", kCeilingColumns).replace(0, 6, "INSERT OR IGNORE"),
                                             row_of(ceiling)));
    }
    return {};
  }

  Store& into_;
  Store& from_;
  Merged merged_;
};

}  // namespace

Result<Merged> merge(Store& into, Store& from) { return Merging{into, from}.run(); }

}  // namespace flopwatt::sweep
