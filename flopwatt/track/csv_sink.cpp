#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "flopwatt/io/append_file.hpp"
#include "flopwatt/io/csv_writer.hpp"
#include "flopwatt/track/sink.hpp"

namespace flopwatt::track {
namespace {

const std::vector<std::string>& columns() {
  static const std::vector<std::string> names = {"rank",
                                                 "first_step",
                                                 "last_step",
                                                 "steps",
                                                 "micro_batches",
                                                 "step_time_seconds",
                                                 "wall_seconds",
                                                 "slots",
                                                 "non_padding_tokens",
                                                 "label_tokens",
                                                 "slots_per_second",
                                                 "tokens_per_second",
                                                 "mfu",
                                                 "hfu",
                                                 "mbu",
                                                 "run_mfu",
                                                 "mfu_computed",
                                                 "energy_joules",
                                                 "energy_per_token_joules",
                                                 "flags"};
  return names;
}

std::string flags_of(const Window& window) {
  std::string flags;
  for (std::size_t i = 0; i < kDoubtCount; ++i) {
    if (!window.doubts[i]) continue;
    if (!flags.empty()) flags += ' ';
    flags += key(static_cast<Doubt>(i));
  }
  return flags;
}

/// The header and one row.
std::string table_of(const Identity& who, const Window& w) {
  io::CsvWriter csv{columns()};
  csv.field(who.rank).field(w.first_step).field(w.last_step).field(w.steps).field(w.micro_batches);
  csv.field(w.step_time().in(units::second)).field(w.wall.in(units::second));
  csv.field(w.tokens.slots).field(w.tokens.non_padding).field(w.tokens.labels);
  csv.field(w.slots_per_second.in(units::token_per_second));
  csv.field(w.tokens_per_second ? std::optional{w.tokens_per_second->in(units::token_per_second)} : std::nullopt);
  csv.field(w.mfu.value).field(w.hfu.value).field(w.mbu.value).field(w.run_mfu.value).field(w.mfu.impossible);
  csv.field(w.total_energy ? std::optional{w.total_energy->in(units::joule)} : std::nullopt);
  csv.field(w.energy_per_token ? std::optional{w.energy_per_token->in(units::joule / units::token)} : std::nullopt);
  csv.field(flags_of(w)).end_row();
  return std::move(csv).take();
}

std::string header() {
  std::string line = io::CsvWriter{columns()}.take();
  line.pop_back();
  return line;
}

class CsvSink final : public Sink {
 public:
  explicit CsvSink(io::AppendFile file) : file_{std::move(file)} {}
  Result<void> window(const Identity& who, const Window& window) override {
    const std::string table = table_of(who, window);
    const std::size_t row = table.find('\n') + 1;
    return file_.append_line(std::string_view{table}.substr(row, table.size() - row - 1));
  }
  Result<void> run(const Identity& /*who*/, const Window& /*run*/) override { return {}; }

 private:
  io::AppendFile file_;
};

}  // namespace

Result<std::unique_ptr<Sink>> csv_sink(const std::string& path) {
  FLOPWATT_TRY(io::AppendFile file, io::AppendFile::open(path));
  const std::string expected = header();
  if (file.was_empty()) {
    FLOPWATT_TRY_VOID(file.append_line(expected));
  } else if (file.first_line() != expected) {
    return fail(Errc::bad_data, "has other columns than this version writes", path, "name a new file");
  }
  return std::make_unique<CsvSink>(std::move(file));
}

}  // namespace flopwatt::track
