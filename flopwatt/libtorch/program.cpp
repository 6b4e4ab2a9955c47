// flopwatt-torch: does the work that `flopwatt sweep` and `flopwatt devices --measure` measure, in a process of its
// own.

#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "flopwatt/base/version.hpp"
#include "flopwatt/libtorch/ceiling.hpp"
#include "flopwatt/libtorch/channel.hpp"
#include "flopwatt/libtorch/device.hpp"
#include "flopwatt/libtorch/operator_counter.hpp"
#include "flopwatt/libtorch/training.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

namespace {

using namespace flopwatt;
using libtorch::Channel;
using libtorch::Training;
using workload::Failed;
using workload::Job;

constexpr std::string_view kUsage =
    "flopwatt-torch: the workload of `flopwatt sweep` and `flopwatt devices --measure`.\n"
    "It is started by them.  By hand: one job, a line of JSON, on standard input (flopwatt/workload/job.hpp); events, "
    "a\n"
    "line each, come on standard output until it reads \"stop\" or the end of its input.\n";

/// What the first of the warm-up steps really executed.
std::optional<workload::CountedStep> counted(const libtorch::OperatorCounts& counts) {
  const auto narrow = [](units::Count count) { return static_cast<std::int64_t>(count.value()); };
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (counts.total() > units::Count{kMost}) return std::nullopt;
  return workload::CountedStep{.forward_flops = narrow(counts.forward),
                               .backward_flops = narrow(counts.backward),
                               .recompute_flops = narrow(counts.recompute),
                               .fused_attention = counts.fused_attention,
                               .not_counted = counts.not_counted};
}

/// The warm-up steps, the first of them counted.
tl::expected<workload::Warm, Failed> warm_up(const Job& job, Training& training, Channel& channel) {
  const double begin = libtorch::monotonic_seconds();
  workload::Warm warm;
  while (warm.steps < job.warmup_steps && !channel.told_to_stop()) {
    std::optional<libtorch::OperatorCounter> counter;
    if (warm.steps == 0) {
      auto started = libtorch::OperatorCounter::start();
      if (started)
        counter = *std::move(started);
      else
        std::fprintf(stderr, "flopwatt-torch: %s\n", started.error().message().c_str());
    }
    const auto step = training.step();
    if (!step) return tl::unexpected<Failed>{step.error()};
    if (counter) {
      const auto counts = counter->stop();
      if (counts)
        warm.counted = counted(*counts);
      else
        std::fprintf(stderr, "flopwatt-torch: %s\n", counts.error().message().c_str());
    }
    ++warm.steps;
  }
  warm.seconds = libtorch::monotonic_seconds() - begin;
  return warm;
}

/// Whole steps that fill one sample; empty when told to stop before it is full.
tl::expected<std::optional<workload::Sample>, Failed> sample(const Job& job, Training& training, Channel& channel) {
  workload::Sample result;
  result.begin_seconds = libtorch::monotonic_seconds();
  do {
    if (channel.told_to_stop()) return std::nullopt;
    const auto seconds = training.step();
    if (!seconds) return tl::unexpected<Failed>{seconds.error()};
    result.device_seconds += *seconds;
    ++result.steps;
  } while (result.device_seconds < job.sample_seconds);
  result.end_seconds = libtorch::monotonic_seconds();
  result.tokens = result.steps * training.tokens_per_step();
  result.peak_memory_bytes = libtorch::peak_memory_bytes(job.device);
  return result;
}

tl::expected<void, Failed> run_steps(const Job& job, Channel& channel, workload::Ready ready) {
  auto training = Training::make(job);
  if (!training) return tl::unexpected<Failed>{training.error()};
  ready.threads = libtorch::cpu_threads();
  ready.tensor_batch = training->tensor_batch();
  ready.tensor_sequence = training->tensor_sequence();
  ready.accumulation = job.accumulation;
  ready.parameters = training->parameter_count();
  channel.send(ready);
  const auto warm = warm_up(job, *training, channel);
  if (!warm) return tl::unexpected<Failed>{warm.error()};
  channel.send(*warm);
  while (true) {
    const auto next = sample(job, *training, channel);
    if (!next) return tl::unexpected<Failed>{next.error()};
    if (!*next) return {};
    channel.send(**next);
  }
}

tl::expected<void, Failed> run_ceiling(const Job& job, Channel& channel, workload::Ready ready) {
  const auto prepared = libtorch::prepare_device(job);
  if (!prepared) return tl::unexpected<Failed>{prepared.error()};
  ready.threads = libtorch::cpu_threads();
  channel.send(ready);
  const auto ceiling = libtorch::measure_ceiling(job);
  if (!ceiling) return tl::unexpected<Failed>{ceiling.error()};
  channel.send(*ceiling);
  return {};
}

int run() {
  Channel channel;
  const auto line = channel.read_line();
  if (!line) return 0;  // the parent has gone before it said anything
  const auto job = workload::read_job(*line);
  if (!job) {
    channel.send(Failed{Failed::Reason::protocol, job.error().message()});
    return 1;
  }
  libtorch::limit_memory(job->device);
  const workload::Ready ready{.device_name = libtorch::device_name(job->device),
                              .library = libtorch::library_version()};
  const auto done =
      job->kind == workload::Kind::step ? run_steps(*job, channel, ready) : run_ceiling(*job, channel, ready);
  if (!done) {
    channel.send(done.error());
    return 1;
  }
  channel.send(workload::Done{});
  return 0;
}

}  // namespace

int main(int count, char** words) {
  if (count > 1 && std::string_view{words[1]} == "--version") {
    std::printf("flopwatt-torch %s, %s\n", std::string{base::kVersion}.c_str(), libtorch::library_version().c_str());
    return 0;
  }
  if (count > 1 || ::isatty(STDIN_FILENO) != 0) {
    std::fputs(std::string{kUsage}.c_str(), count > 1 ? stdout : stderr);
    return count > 1 && std::string_view{words[1]} == "--help" ? 0 : 2;
  }
  const int code = run();
  std::fflush(nullptr);
  std::_Exit(code);  // every event has been written; LibTorch's static tables take a quarter of a second to take down
}
