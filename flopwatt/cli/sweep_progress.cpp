#include "flopwatt/cli/sweep_progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "flopwatt/base/counted.hpp"
#include "flopwatt/report/width.hpp"

namespace flopwatt::cli {
namespace {

std::string minutes(units::Duration time) {
  const double seconds = time.in(units::second);
  if (seconds < 90) return fmt::format("{:.0f} s", seconds);
  if (seconds < 90 * 60) return fmt::format("{:.0f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string_view doing(sweep::Progress::Phase phase) {
  using Phase = sweep::Progress::Phase;
  switch (phase) {
    case Phase::idle:
      return "idle baseline";
    case Phase::ceiling:
      return "measuring the ceiling";
    case Phase::cooldown:
      return "cooling down";
    case Phase::start:
      return "starting";
    case Phase::warmup:
      return "warming up";
    case Phase::sampling:
    case Phase::ended:
      break;
  }
  return "";
}

void write_error(const std::string& text) {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));  // nobody to tell
}

std::size_t terminal_columns() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col : 80U;
}

}  // namespace

std::string announcement(const answers::SweepPlan& plan) {
  std::string text =
      fmt::format("{} of {} into {}: {} to {}, and what starts and warm-ups take\n", base::counted(plan.to_run, "run"),
                  base::counted(plan.configurations.size(), "configuration"), plan.store, minutes(plan.estimate.least),
                  minutes(plan.estimate.most));
  for (const std::string& note : plan.notes) text += "  " + note + '\n';
  return text;
}

std::string progress_text(const sweep::Progress& p) {
  std::string out;
  if (p.run > 0) out = fmt::format("{}/{} ", p.run, p.runs);
  if (p.left) out += minutes(*p.left) + " left, ";  // first, since a narrow terminal cuts the end
  out += p.configuration;
  if (p.run > 0) out += fmt::format(" #{}", p.repeat);
  if (const auto what = doing(p.phase); !what.empty()) {
    out += (out.empty() ? "" : ": ") + std::string{what};
  } else if (p.phase == sweep::Progress::Phase::ended) {
    out += ": " + p.outcome;
  } else {
    out += ": " + base::counted(p.samples, "sample");
    if (p.mfu) out += fmt::format(", MFU {:.3g} %", 100 * *p.mfu);
    if (p.half_width) out += fmt::format(" ± {:.2g} %", 100 * *p.half_width);
  }
  return out;
}

ProgressLine::ProgressLine() : terminal_{::isatty(STDERR_FILENO) == 1} {}

void ProgressLine::show(const sweep::Progress& progress) {
  if (!terminal_) return;
  // Cut at a code point: the text holds "×" and "±".
  write_error("\r\033[K" + base::excerpt(progress_text(progress), terminal_columns() - 4));
  shown_ = true;
}

ProgressLine::~ProgressLine() {
  if (shown_) write_error("\r\033[K");
}

}  // namespace flopwatt::cli
