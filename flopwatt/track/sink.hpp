#pragma once

#include <functional>
#include <memory>
#include <string>

#include "flopwatt/base/result.hpp"
#include "flopwatt/track/window.hpp"

/// Where windows go.  A sink never stops the loop: what fails is kept and can be asked for (Tracker::trouble).

namespace flopwatt::track {

class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;

  [[nodiscard]] virtual Result<void> window(const Identity& who, const Window& window) = 0;
  /// The run so far, at its end; may come more than once.
  [[nodiscard]] virtual Result<void> run(const Identity& who, const Window& run) = 0;
};

using WindowCallback = std::function<void(const Identity&, const Window&)>;
[[nodiscard]] std::unique_ptr<Sink> callback_sink(WindowCallback on_window, WindowCallback on_run = {});

/// One JSON object a line, `"kind": "window"` or `"run"`, in one write: a killed run loses no finished line.  An
/// existing file is continued.  Errc::bad_data at PATH for what cannot be opened.
[[nodiscard]] Result<std::unique_ptr<Sink>> jsonl_sink(const std::string& path);

/// One line a window; the run's sum is not in it.  An existing file must have the same columns and is continued.
[[nodiscard]] Result<std::unique_ptr<Sink>> csv_sink(const std::string& path);

/// The last window as metrics in Prometheus text format, replaced as a whole (for the textfile collector of the node
/// exporter: a name that ends in ".prom").  A figure that is absent is absent, never 0.  Errc::usage for another name.
[[nodiscard]] Result<std::unique_ptr<Sink>> prometheus_sink(const std::string& path);

/// A window as one line of JSON, as jsonl_sink writes it, without the newline.
[[nodiscard]] std::string to_json_line(const Identity& who, const Window& window, std::string_view kind);

}  // namespace flopwatt::track
