#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "flopwatt/base/result.hpp"

namespace flopwatt::engine {

/// Serves one page, /metrics, to Prometheus.
class MetricsServer {
 public:
  /// "9101", ":9101" (on 127.0.0.1), "0.0.0.0:9101", "[::1]:9101"; port 0: any that is free.  Errc::usage for what is
  /// no address, Errc::unavailable where it cannot be bound.
  [[nodiscard]] static Result<std::unique_ptr<MetricsServer>> start(const std::string& address);

  MetricsServer(const MetricsServer&) = delete;
  MetricsServer& operator=(const MetricsServer&) = delete;
  ~MetricsServer();

  /// What is served from now on: as plain text, and for those who ask for OpenMetrics.
  void publish(std::string text, std::string open_metrics);
  /// "http://127.0.0.1:9101/metrics"
  [[nodiscard]] const std::string& url() const;

 private:
  struct State;
  explicit MetricsServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace flopwatt::engine
