#pragma once

#include <string>

#include "flopwatt/answers/sweep.hpp"
#include "flopwatt/sweep/run.hpp"

/// What a sweep says while it runs, on standard error.

namespace flopwatt::cli {

/// "24 runs of 12 configurations into x.sqlite: 4 min to 40 min and what starts and warm-ups take"
[[nodiscard]] std::string announcement(const answers::SweepPlan& plan);

/// One line that overwrites itself, where standard error is a terminal; nothing elsewhere.
class ProgressLine {
 public:
  ProgressLine();
  void show(const sweep::Progress& progress);
  /// Clears the line.
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

 private:
  bool terminal_;
  bool shown_ = false;
};
/// The text of the line.
[[nodiscard]] std::string progress_text(const sweep::Progress& progress);

}  // namespace flopwatt::cli
