#include "flopwatt/workload/job.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "flopwatt/base/error.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/workload/words.hpp"

namespace flopwatt::workload {
namespace {

constexpr std::string_view kJob = "workload job";
constexpr Words<2> kKinds{"step", "ceiling"};
constexpr Words<2> kAttentions{"eager", "sdpa"};
constexpr Words<2> kPaddings{"full", "none"};
constexpr Words<2> kRecomputes{"none", "full"};
constexpr Words<3> kPlaces{"cpu", "cuda", "hip"};
constexpr Words<4> kDtypes{"float32", "tf32", "float16", "bfloat16"};  // in the order of units::Precision
static_assert(units::kPrecisions[3] == units::Precision::bfloat16);

// No tensor of a step has as many elements along one side.
constexpr std::int64_t kMaxSize = std::int64_t{1} << 32U;
constexpr std::int64_t kMaxSteps = 1'000'000;
constexpr double kMaxSampleSeconds = 3600.0;

template <std::size_t N, class Enum>
std::string_view word(const Words<N>& words, Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < N ? words[index] : "?";
}

Result<Place> read_place(const io::JsonObject& object) {
  FLOPWATT_TRY(const std::string text, object.require_string("device"));
  auto place = parse_place(text);
  if (!place) return fail(object.error("device", place.error().what, place.error().remedy));
  return *place;
}

}  // namespace

std::string_view name(Kind value) noexcept { return word(kKinds, value); }
std::string_view name(Attention value) noexcept { return word(kAttentions, value); }
std::string_view name(Padding value) noexcept { return word(kPaddings, value); }
std::string_view name(Recompute value) noexcept { return word(kRecomputes, value); }

Result<Place> parse_place(std::string_view text) {
  const auto colon = text.find(':');
  const std::string_view type = text.substr(0, colon);
  const auto* const found = std::find(kPlaces.begin(), kPlaces.end(), type);
  Place place;
  bool good = found != kPlaces.end();
  if (good) place.type = static_cast<Place::Type>(found - kPlaces.begin());
  if (good && colon != std::string_view::npos) {
    const std::string_view index = text.substr(colon + 1);
    const auto [end, status] = std::from_chars(index.data(), index.data() + index.size(), place.index);
    good = status == std::errc{} && end == index.data() + index.size() && place.index >= 0 && place.index < 1024 &&
           place.type != Place::Type::cpu;
  }
  if (!good) {
    return fail(Errc::usage, "unknown device \"" + base::excerpt(text) + '"', "--device",
                "write cpu, cuda, cuda:N, hip or hip:N");
  }
  return place;
}

std::string to_string(const Place& place) {
  std::string text{word(kPlaces, place.type)};
  return place.type == Place::Type::cpu ? text : text + ':' + std::to_string(place.index);
}

std::int64_t Job::tensor_sequence() const noexcept {
  return padding == Padding::none ? std::min(prompt_tokens, sequence) : sequence;
}

std::string write(const Job& job) {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_object();
  json.member("protocol", kProtocol).member("job", name(job.kind)).member("device", to_string(job.device));
  json.member("dtype", units::name(job.dtype)).member("threads", job.threads).member("seed", job.seed);
  json.member("sample_seconds", job.sample_seconds);
  if (job.kind == Kind::step) {
    json.member("attention", name(job.attention)).member("batch", job.batch).member("sequence", job.sequence);
    json.member("accumulation", job.accumulation).member("padding", name(job.padding));
    json.member("prompt_tokens", job.prompt_tokens).member("recompute", name(job.recompute));
    json.member("learning_rate", job.learning_rate).member("weight_decay", job.weight_decay);
    json.member("warmup_steps", job.warmup_steps).member("weights", job.weights).member("config", job.config);
  }
  json.end_object();
  return std::move(json).take();
}

Result<Job> read_job(std::string_view line) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(line, kJob));
  FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(document, kJob));
  Job job;
  FLOPWATT_TRY(const auto protocol, object.optional_int("protocol", 1));
  if (protocol && *protocol != kProtocol) {
    return fail(object.error("protocol", "is " + std::to_string(*protocol) + ", not " + std::to_string(kProtocol)));
  }
  FLOPWATT_TRY(job.kind, require_word<Kind>(object, "job", kKinds));
  FLOPWATT_TRY(job.device, read_place(object));
  FLOPWATT_TRY(job.dtype, require_word<units::Precision>(object, "dtype", kDtypes));
  FLOPWATT_TRY(job.threads, object.optional_int("threads", 1, 4096));
  FLOPWATT_TRY(job.seed, object.require_int("seed", 0));
  FLOPWATT_TRY(job.sample_seconds, object.require_number("sample_seconds", 0.0, kMaxSampleSeconds));
  if (job.kind == Kind::ceiling) {
    FLOPWATT_TRY_VOID(
        object.refuse_other_keys({"protocol", "job", "device", "dtype", "threads", "seed", "sample_seconds"}));
    return job;
  }
  FLOPWATT_TRY(job.attention, require_word<Attention>(object, "attention", kAttentions));
  FLOPWATT_TRY(job.batch, object.require_int("batch", 1, kMaxSize));
  FLOPWATT_TRY(job.sequence, object.require_int("sequence", 1, kMaxSize));
  FLOPWATT_TRY(job.accumulation, object.require_int("accumulation", 1, kMaxSize));
  FLOPWATT_TRY(job.padding, require_word<Padding>(object, "padding", kPaddings));
  FLOPWATT_TRY(job.prompt_tokens, object.require_int("prompt_tokens", 1, kMaxSize));
  FLOPWATT_TRY(job.recompute, require_word<Recompute>(object, "recompute", kRecomputes));
  FLOPWATT_TRY(job.learning_rate, object.require_number("learning_rate", 0.0, 1e3));
  FLOPWATT_TRY(job.weight_decay, object.require_number("weight_decay", 0.0, 1e3));
  FLOPWATT_TRY(job.warmup_steps, object.require_int("warmup_steps", 0, kMaxSteps));
  FLOPWATT_TRY(job.weights, object.optional_string("weights"));
  FLOPWATT_TRY(job.config, object.require_string("config"));
  FLOPWATT_TRY_VOID(
      object.refuse_other_keys({"protocol", "job", "device", "dtype", "threads", "seed", "sample_seconds", "attention",
                                "batch", "sequence", "accumulation", "padding", "prompt_tokens", "recompute",
                                "learning_rate", "weight_decay", "warmup_steps", "weights", "config"}));
  if (job.weights && job.weights->empty()) return fail(object.error("weights", "is empty", "leave the key out"));
  return job;
}

work::Workload ledger_workload(const Job& job) {
  work::Workload workload;
  workload.phase = work::Phase::train;
  workload.batch = job.batch * job.accumulation;
  workload.sequence = job.tensor_sequence();
  workload.precision = job.dtype;
  // Everything is held in the job's dtype, the optimizer's states too.
  workload.optimizer_precision = job.dtype == units::Precision::tf32 ? units::Precision::float32 : job.dtype;
  workload.kernel = job.attention == Attention::eager ? work::Kernel::eager : work::Kernel::sdpa;
  workload.execution = work::Execution::eager;
  workload.recompute = job.recompute == Recompute::full ? work::Recompute::full : work::Recompute::none;
  return workload;
}

}  // namespace flopwatt::workload
