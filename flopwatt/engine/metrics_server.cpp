#include "flopwatt/engine/metrics_server.hpp"

#include <fmt/format.h>
#include <httplib.h>
#include <sys/socket.h>

#include <mutex>
#include <thread>
#include <utility>

#include "flopwatt/telemetry/guarded.hpp"
#include "flopwatt/telemetry/http_url.hpp"

namespace flopwatt::engine {
namespace {

constexpr const char* kText = "text/plain; version=0.0.4; charset=utf-8";
constexpr const char* kOpenMetrics = "application/openmetrics-text; version=1.0.0; charset=utf-8";

struct Address {
  std::string host;
  int port = 0;
};

Result<Address> parse_address(const std::string& text) {
  const auto refused = [&] {
    return fail(Errc::usage, fmt::format("\"{}\" is no [ADDRESS:]PORT", base::excerpt(text)), "--prometheus",
                "write 9101, or 0.0.0.0:9101 to be read from elsewhere");
  };
  std::string_view port = text;
  std::string host = "127.0.0.1";
  if (const std::size_t colon = text.rfind(':'); colon != std::string::npos) {
    port = std::string_view{text}.substr(colon + 1);
    if (colon > 0) host = text.substr(0, colon);
  }
  if (port == "0") return Address{host, 0};
  const auto url = telemetry::parse_http_url(fmt::format("http://{}:{}/", host, port));
  if (!url || url->target != "/" || !url->fragment.empty()) return refused();
  return Address{url->host, url->port};
}

}  // namespace

struct MetricsServer::State {
  httplib::Server server;
  std::thread thread;
  std::mutex mutex;
  std::string text, open_metrics, url;
};

MetricsServer::MetricsServer(std::unique_ptr<State> state) : state_{std::move(state)} {}

MetricsServer::~MetricsServer() {
  state_->server.stop();
  if (state_->thread.joinable()) state_->thread.join();
}

const std::string& MetricsServer::url() const { return state_->url; }

void MetricsServer::publish(std::string text, std::string open_metrics) {
  const std::lock_guard lock{state_->mutex};
  state_->text = std::move(text);
  state_->open_metrics = std::move(open_metrics);
}

Result<std::unique_ptr<MetricsServer>> MetricsServer::start(const std::string& address) {
  FLOPWATT_TRY(const Address where, parse_address(address));
  auto state = std::make_unique<State>();
  httplib::Server& server = state->server;
  // The library's default would let a second program share the port silently.
  server.set_socket_options([](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  server.new_task_queue = [] { return new httplib::ThreadPool{2}; };
  server.set_payload_max_length(1024);
  server.set_read_timeout(std::chrono::seconds{5});
  server.set_keep_alive_timeout(5);
  server.Get("/metrics", [shared = state.get()](const httplib::Request& request, httplib::Response& response) {
    const bool open = request.get_header_value("Accept").find("application/openmetrics-text") != std::string::npos;
    const std::lock_guard lock{shared->mutex};
    response.set_content(open ? shared->open_metrics : shared->text, open ? kOpenMetrics : kText);
  });
  server.Get("/", [](const httplib::Request&, httplib::Response& response) {
    response.set_content("flopwatt monitor: see /metrics\n", "text/plain");
  });
  int port = where.port;
  const bool bound =
      port == 0 ? (port = server.bind_to_any_port(where.host)) > 0 : server.bind_to_port(where.host, port);
  if (!bound) {
    return fail(Errc::unavailable, fmt::format("cannot listen on {}:{}", where.host, where.port), "--prometheus",
                "is the port taken, or the address of another machine?");
  }
  telemetry::HttpUrl url{.host = where.host, .port = port};
  state->url = url.origin() + "/metrics";
  state->thread = telemetry::quiet_thread([shared = state.get()] { shared->server.listen_after_bind(); });
  if (!state->thread.joinable()) return fail(Errc::unavailable, "the system has no more threads", "--prometheus");
  // stop() does nothing to a server that does not listen yet: it would then listen for ever.
  while (!server.is_running()) std::this_thread::sleep_for(std::chrono::milliseconds{1});
  return std::unique_ptr<MetricsServer>{new MetricsServer{std::move(state)}};
}

}  // namespace flopwatt::engine
