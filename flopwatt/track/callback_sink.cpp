#include <exception>
#include <string>
#include <utility>

#include "flopwatt/track/sink.hpp"

namespace flopwatt::track {
namespace {

class CallbackSink final : public Sink {
 public:
  CallbackSink(WindowCallback on_window, WindowCallback on_run)
      : on_window_{std::move(on_window)}, on_run_{std::move(on_run)} {}
  Result<void> window(const Identity& who, const Window& window) override { return call(on_window_, who, window); }
  Result<void> run(const Identity& who, const Window& run) override { return call(on_run_, who, run); }

 private:
  /// What the callback throws must not end the loop that is measured.
  static Result<void> call(const WindowCallback& callback, const Identity& who, const Window& window) {
    if (!callback) return {};
    try {
      callback(who, window);
      return {};
    } catch (const std::exception& thrown) {
      return fail(Errc::internal, std::string{"the callback failed: "} + thrown.what());
    } catch (...) {
      return fail(Errc::internal, "the callback failed");
    }
  }
  WindowCallback on_window_, on_run_;
};

}  // namespace

std::unique_ptr<Sink> callback_sink(WindowCallback on_window, WindowCallback on_run) {
  return std::make_unique<CallbackSink>(std::move(on_window), std::move(on_run));
}

}  // namespace flopwatt::track
