#include "flopwatt/device/derive.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace flopwatt::device {
namespace {

using units::Precision;

// FLOPs of one unit in one clock.
struct Rate {
  Precision precision;
  Path path;
  Accumulate accumulate;
  double flops_per_clock;
};
constexpr Rate vector(Precision precision, Accumulate accumulate, double flops) {
  return {precision, Path::vector, accumulate, flops};
}
constexpr Rate tensor(Precision precision, double flops) {
  const bool integer = precision == Precision::int8 || precision == Precision::int4;
  return {precision, Path::tensor_dense, integer ? Accumulate::int32 : Accumulate::fp32, flops};
}
constexpr Rate tensor16(Precision precision, double flops) {
  return {precision, Path::tensor_dense, Accumulate::fp16, flops};
}

using enum Precision;
constexpr auto fp32 = Accumulate::fp32;

constexpr std::array kVolta{vector(float32, fp32, 128), tensor(float16, 1024)};
constexpr std::array kTuring{vector(float32, fp32, 128), tensor(float16, 1024), tensor16(float16, 1024),
                             tensor(int8, 2048), tensor(int4, 4096)};
constexpr std::array kTuringGeForce{vector(float32, fp32, 128), tensor(float16, 512), tensor16(float16, 1024),
                                    tensor(int8, 2048), tensor(int4, 4096)};
constexpr std::array kGa100{vector(float32, fp32, 128), tensor(tf32, 1024),     tensor(float16, 2048),
                            tensor16(float16, 2048),    tensor(bfloat16, 2048), tensor(int8, 4096),
                            tensor(int4, 8192)};
constexpr std::array kGa10x{vector(float32, fp32, 256), tensor(tf32, 512),      tensor(float16, 1024),
                            tensor16(float16, 1024),    tensor(bfloat16, 1024), tensor(int8, 2048)};
constexpr std::array kGa10xGeForce{vector(float32, fp32, 256), tensor(tf32, 256),     tensor(float16, 512),
                                   tensor16(float16, 1024),    tensor(bfloat16, 512), tensor(int8, 2048)};
constexpr std::array kAda{vector(float32, fp32, 256), tensor(tf32, 512), tensor(float16, 1024), tensor16(float16, 1024),
                          tensor(bfloat16, 1024),     tensor(fp8, 2048), tensor(int8, 2048)};
constexpr std::array kAdaGeForce{vector(float32, fp32, 256), tensor(tf32, 256),     tensor(float16, 512),
                                 tensor16(float16, 1024),    tensor(bfloat16, 512), tensor(fp8, 1024),
                                 tensor16(fp8, 2048),        tensor(int8, 2048)};
constexpr std::array kHopper{vector(float32, fp32, 256), tensor(tf32, 2048),     tensor(float16, 4096),
                             tensor16(float16, 4096),    tensor(bfloat16, 4096), tensor(fp8, 8192),
                             tensor(int8, 8192)};
constexpr std::array kBlackwell{vector(float32, fp32, 256), tensor(tf32, 4096), tensor(float16, 8192),
                                tensor(bfloat16, 8192),     tensor(fp8, 16384), tensor(int8, 16384),
                                tensor(fp4, 32768)};
constexpr std::array kBlackwellGeForce{vector(float32, fp32, 256), tensor(tf32, 256),     tensor(float16, 512),
                                       tensor16(float16, 1024),    tensor(bfloat16, 512), tensor(fp8, 1024),
                                       tensor16(fp8, 2048),        tensor(int8, 2048),    tensor(fp4, 4096)};
constexpr std::array kCdna2{vector(float32, fp32, 128), tensor(float32, 256), tensor(float16, 1024),
                            tensor(bfloat16, 1024), tensor(int8, 1024)};
constexpr std::array kCdna3{vector(float32, fp32, 256), tensor(float32, 256), tensor(tf32, 1024), tensor(float16, 2048),
                            tensor(bfloat16, 2048),     tensor(fp8, 4096),    tensor(int8, 4096)};
constexpr std::array kCdna4{vector(float32, fp32, 256), tensor(float32, 256), tensor(float16, 4096),
                            tensor(bfloat16, 4096),     tensor(fp8, 8192),    tensor(int8, 8192),
                            tensor(fp4, 16384)};

struct RateClass {
  std::string_view architecture;
  std::string_view product_class;
  std::int64_t max_units;  // of the largest chip of the class: more cannot be one device
  std::span<const Rate> rates;
  std::string_view source;
};
// B300 and GB300 (Blackwell Ultra) are left out: their int8 and fp4 rates are disputed.
constexpr std::array kClasses{
    RateClass{"volta", "datacenter", 84, kVolta, "NVIDIA V100 white paper"},
    RateClass{"turing", "datacenter", 72, kTuring, "NVIDIA Turing white paper"},
    RateClass{"turing", "professional", 72, kTuring, "NVIDIA Turing white paper"},
    RateClass{"turing", "geforce", 72, kTuringGeForce, "NVIDIA Turing white paper"},
    RateClass{"ampere", "datacenter", 128, kGa100, "NVIDIA A100 white paper (GA100)"},
    RateClass{"ampere", "professional", 84, kGa10x, "NVIDIA Ampere GA102 white paper (A10, A40, RTX A6000)"},
    RateClass{"ampere", "geforce", 84, kGa10xGeForce, "NVIDIA Ampere GA102 white paper (GeForce 30, A10G)"},
    RateClass{"ada", "professional", 144, kAda, "NVIDIA Ada white paper, L4 and L40S data sheets (not the L40)"},
    RateClass{"ada", "geforce", 144, kAdaGeForce, "NVIDIA Ada white paper (GeForce 40)"},
    RateClass{"hopper", "datacenter", 144, kHopper, "NVIDIA H100 white paper (not the H20, which is capped)"},
    RateClass{"blackwell", "datacenter", 160, kBlackwell, "NVIDIA GB200 NVL72 figures (B200, GB200)"},
    RateClass{"blackwell", "geforce", 192, kBlackwellGeForce, "NVIDIA RTX Blackwell white paper (GeForce 50)"},
    RateClass{"cdna2", "datacenter", 220, kCdna2, "AMD CDNA 2 white paper"},
    RateClass{"cdna3", "datacenter", 304, kCdna3, "AMD CDNA 3 white paper"},
    RateClass{"cdna4", "datacenter", 256, kCdna4, "AMD CDNA 4 white paper"},
};

std::string lower(std::string_view text) {
  std::string out{text};
  for (char& c : out) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::string architectures() {
  std::vector<std::string_view> names;
  for (const RateClass& entry : kClasses) {
    if (names.empty() || names.back() != entry.architecture) names.push_back(entry.architecture);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<const RateClass*> rate_class(const DeriveRequest& request) {
  const std::string architecture = lower(request.architecture), wanted = lower(request.product_class);
  std::vector<const RateClass*> known, fitting;
  for (const RateClass& entry : kClasses) {
    if (entry.architecture != architecture) continue;
    known.push_back(&entry);
    if (!wanted.empty() && entry.product_class != wanted) continue;
    if (request.units <= entry.max_units) fitting.push_back(&entry);
  }
  std::vector<std::string> classes;
  for (const RateClass* entry : known) {
    classes.push_back(fmt::format("class={} (at most {} units)", entry->product_class, entry->max_units));
  }
  if (known.empty()) {
    return fail(Errc::usage, fmt::format("no rates are known for arch={}", base::excerpt(request.architecture)),
                "--derive", fmt::format("use one of {}, or give --peak-tflops", architectures()));
  }
  if (fitting.empty()) {
    return fail(Errc::usage,
                fmt::format("arch={} has no class{}{} with {} units", architecture, wanted.empty() ? "" : "=", wanted,
                            request.units),
                "--derive", fmt::format("it has {}", fmt::join(classes, ", ")));
  }
  // Two classes of one rate table (Turing data-centre and professional) are no choice.
  const bool one = std::all_of(fitting.begin(), fitting.end(), [&fitting](const RateClass* entry) {
    return entry->rates.data() == fitting.front()->rates.data();
  });
  if (!one) {
    return fail(
        Errc::usage,
        fmt::format("arch={} alone does not decide the rate: its classes compute at different rates", architecture),
        "--derive", fmt::format("add one of {}", fmt::join(classes, ", ")));
  }
  return fitting.front();
}

Result<double> positive(std::string_view key, std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || !std::isfinite(value)) {
    return fail(Errc::usage, fmt::format("{}=\"{}\" is no positive number", key, base::excerpt(text)), "--derive",
                "give a number without a unit");
  }
  return value;
}

}  // namespace

Result<DeriveRequest> parse_derive(std::string_view text) {
  constexpr std::array<std::string_view, 6> kKeys{"arch", "class", "units", "clock-mhz", "mem-bw-gbs", "tdp-w"};
  std::array<std::optional<std::string>, kKeys.size()> values;
  while (true) {
    const std::size_t comma = text.find(',');
    const std::string_view item = text.substr(0, comma);
    const std::size_t equals = item.find('=');
    const std::string_view key = item.substr(0, equals);
    const auto at = static_cast<std::size_t>(std::find(kKeys.begin(), kKeys.end(), key) - kKeys.begin());
    if (equals == std::string_view::npos || equals + 1 == item.size() || at == kKeys.size()) {
      return fail(Errc::usage, fmt::format("\"{}\" is none of its settings", base::excerpt(item)), "--derive",
                  fmt::format("write {}=… with commas between", fmt::join(kKeys, "=…, ")));
    }
    if (values[at]) return fail(Errc::usage, fmt::format("{} is given twice", key), "--derive", "give it once");
    values[at] = std::string{item.substr(equals + 1)};
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  for (const std::size_t required : {std::size_t{0}, std::size_t{2}, std::size_t{3}}) {
    if (!values[required]) {
      return fail(Errc::usage, fmt::format("{} is missing", kKeys[required]), "--derive",
                  "write arch=ampere,class=datacenter,units=108,clock-mhz=1410");
    }
  }
  DeriveRequest request;
  request.architecture = *values[0];
  request.product_class = values[1].value_or("");
  FLOPWATT_TRY(const double count, positive("units", *values[2]));
  if (count != std::floor(count) || count > 1e6) {
    return fail(Errc::usage, fmt::format("units={} is no number of SMs or CUs", *values[2]), "--derive",
                "give a whole number");
  }
  request.units = static_cast<std::int64_t>(count);
  FLOPWATT_TRY(const double clock, positive("clock-mhz", *values[3]));
  request.clock = clock * units::megahertz;
  if (values[4]) {
    FLOPWATT_TRY(const double bandwidth, positive("mem-bw-gbs", *values[4]));
    request.memory_bandwidth = bandwidth * units::gigabyte_per_second;
  }
  if (values[5]) {
    FLOPWATT_TRY(const double limit, positive("tdp-w", *values[5]));
    request.board_limit = limit * units::watt;
  }
  return request;
}

Result<Device> derive(const DeriveRequest& request) {
  const double megahertz = request.clock.in(units::megahertz);
  if (request.units < 1 || !(megahertz > 0) || !std::isfinite(megahertz)) {
    return fail(Errc::usage, "units and clock must be positive", "--derive", "give units= and clock-mhz=");
  }
  if (megahertz > 1e4) {
    return fail(Errc::usage, fmt::format("clock-mhz={} is beyond 10 GHz", megahertz), "--derive", "give it in MHz");
  }
  FLOPWATT_TRY(const RateClass* entry, rate_class(request));
  Device device;
  device.architecture = entry->architecture;
  device.vendor = device.architecture.starts_with("cdna") ? "AMD" : "NVIDIA";
  device.name =
      fmt::format("{} {}, {} units at {} MHz", entry->architecture, entry->product_class, request.units, megahertz);
  device.family = device.name;
  const std::vector<Source> source{{fmt::format("units × clock × rate, {}", entry->source), ""}};
  for (const Rate& rate : entry->rates) {
    const auto per_second = static_cast<double>(request.units) * rate.flops_per_clock * request.clock * units::flop;
    Peak peak;
    peak.precision = rate.precision;
    peak.path = rate.path;
    peak.accumulate = rate.accumulate;
    peak.rate = per_second;
    peak.sources = source;
    peak.confidence = Confidence::single;
    peak.origin = Origin::derived;
    peak.note = fmt::format("{} × {} × {} MHz", request.units, rate.flops_per_clock, megahertz);
    device.peaks.push_back(std::move(peak));
  }
  ComputeUnits units;
  units.name = device.vendor == "AMD" ? "CU" : "SM";
  units.count = request.units;
  units.clock = request.clock;
  units.sources = source;
  device.compute_units = std::move(units);
  const std::vector<Source> stated{{"--derive", ""}};
  if (request.memory_bandwidth) {
    device.memory_bandwidth = Figure<units::Bandwidth>{*request.memory_bandwidth, {}, stated, Confidence::single, ""};
  }
  if (request.board_limit) {
    device.board_limit = Figure<units::Power>{*request.board_limit, {}, stated, Confidence::single, ""};
  }
  return device;
}

}  // namespace flopwatt::device
