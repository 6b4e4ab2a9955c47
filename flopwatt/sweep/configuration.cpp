#include "flopwatt/sweep/configuration.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "flopwatt/io/hash.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/json_writer.hpp"

namespace flopwatt::sweep {
namespace {

template <class T, std::size_t N>
Result<T> one_of(const io::JsonObject& object, std::string_view key, const T (&values)[N]) {
  FLOPWATT_TRY(const std::string word, object.require_string(key));
  for (const T value : values) {
    if (name(value) == word) return value;
  }
  return fail(object.error(key, fmt::format("unknown value '{}'", base::excerpt(word))));
}

/// "cuda" of "cuda:1".
std::string kind_of(const workload::Place& place) {
  const std::string text = workload::to_string(place);
  return text.substr(0, text.find(':'));
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

std::string Configuration::canonical() const {
  io::JsonWriter json{io::JsonWriter::Style::compact};
  json.begin_object().member("identity", 1).member("model", model).member("config_sha256", config_sha256);
  json.member("weights", weights).member("dtype", units::name(dtype)).member("attention", workload::name(attention));
  json.member("batch", batch).member("sequence", sequence).member("pad", workload::name(padding));
  json.member("recompute", workload::name(recompute)).member("accumulation", accumulation);
  json.member("learning_rate", learning_rate).member("weight_decay", weight_decay).member("device", device_kind);
  return std::move(json.end_object()).take();
}

std::string Configuration::id() const { return io::sha256_hex(canonical()).substr(0, 16); }

std::string Configuration::text() const {
  std::string out =
      fmt::format("{} {} {} {} × {}", model, units::name(dtype), workload::name(attention), batch, sequence);
  if (padding == workload::Padding::none) out += " unpadded";
  if (recompute != workload::Recompute::none) out += fmt::format(" recompute {}", workload::name(recompute));
  if (accumulation != 1) out += fmt::format(" accumulation {}", accumulation);
  if (!weights.empty()) out += " with weights";
  return out;
}

Result<Configuration> read_configuration(std::string_view canonical, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(canonical, where));
  FLOPWATT_TRY(const io::JsonObject root, io::JsonObject::root(document, where));
  Configuration out;
  FLOPWATT_TRY([[maybe_unused]] const std::int64_t version, root.require_int("identity", 1, 1));
  FLOPWATT_TRY(out.model, root.require_string("model"));
  FLOPWATT_TRY(out.config_sha256, root.require_string("config_sha256"));
  FLOPWATT_TRY(out.weights, root.require_string("weights"));
  FLOPWATT_TRY(const std::string dtype, root.require_string("dtype"));
  const auto precision = units::parse_precision(dtype);
  if (!precision) return fail(root.error("dtype", "is no dtype"));
  out.dtype = *precision;
  constexpr workload::Attention kAttentions[] = {workload::Attention::eager, workload::Attention::sdpa};
  constexpr workload::Recompute kRecomputes[] = {workload::Recompute::none, workload::Recompute::full};
  constexpr workload::Padding kPaddings[] = {workload::Padding::full, workload::Padding::none};
  FLOPWATT_TRY(out.attention, one_of(root, "attention", kAttentions));
  FLOPWATT_TRY(out.batch, root.require_int("batch", 1));
  FLOPWATT_TRY(out.sequence, root.require_int("sequence", 1));
  FLOPWATT_TRY(out.padding, one_of(root, "pad", kPaddings));
  FLOPWATT_TRY(out.recompute, one_of(root, "recompute", kRecomputes));
  FLOPWATT_TRY(out.accumulation, root.require_int("accumulation", 1));
  FLOPWATT_TRY(out.learning_rate, root.require_number("learning_rate", 0));
  FLOPWATT_TRY(out.weight_decay, root.require_number("weight_decay", 0));
  FLOPWATT_TRY(out.device_kind, root.require_string("device"));
  return out;
}

Result<std::vector<Configuration>> expand(const Plan& plan, std::span<const Model> models) {
  std::map<std::string, std::string> config_of;
  std::vector<Configuration> out;
  for (const Model& model : models) {
    const std::string sha256 = io::sha256_hex(model.config);
    if (!config_of.emplace(model.name, sha256).second) {
      return fail(Errc::bad_data, fmt::format("models: two of them are called '{}'", model.name), plan.where,
                  "give their files different names");
    }
    for (const units::Precision dtype : plan.dtypes) {
      for (const workload::Attention attention : plan.attention) {
        for (const workload::Recompute recompute : plan.recomputes) {
          for (const std::int64_t accumulation : plan.accumulations) {
            for (const std::int64_t batch : plan.batches) {
              for (const std::int64_t sequence : plan.sequences) {
                out.push_back({.model = model.name,
                               .config_sha256 = sha256,
                               .weights = model.weights,
                               .dtype = dtype,
                               .attention = attention,
                               .batch = batch,
                               .sequence = sequence,
                               .accumulation = accumulation,
                               .recompute = recompute,
                               .padding = plan.padding,
                               .device_kind = kind_of(plan.device),
                               .learning_rate = plan.learning_rate,
                               .weight_decay = plan.weight_decay});
              }
            }
          }
        }
      }
    }
  }
  return out;
}

bool Shard::holds(std::string_view id) const {
  std::uint64_t number = 0;
  std::from_chars(id.data(), id.data() + id.size(), number, 16);
  return number % static_cast<std::uint64_t>(count) == static_cast<std::uint64_t>(index - 1);
}

Result<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash != std::string_view::npos) {
    const auto index = whole(text.substr(0, slash));
    const auto count = whole(text.substr(slash + 1));
    if (index && count && *index >= 1 && *index <= *count && *count <= 1'000'000) return Shard{*index, *count};
  }
  return fail(Errc::usage, fmt::format("'{}' is no part of a whole", base::excerpt(text)), {},
              "write I/N with I from 1 to N: 2/4");
}

std::vector<Repeat> schedule(std::span<const Configuration> configurations, std::int64_t repeats, std::int64_t seed) {
  using Key = std::tuple<std::int64_t, std::string, std::size_t>;
  std::vector<Key> keys;
  for (std::size_t i = 0; i < configurations.size(); ++i) {
    const std::string id = configurations[i].id();
    for (std::int64_t number = 1; number <= repeats; ++number) {
      keys.emplace_back(number, io::sha256_hex(fmt::format("{}/{}/{}", seed, number, id)), i);
    }
  }
  std::sort(keys.begin(), keys.end());
  std::vector<Repeat> out;
  out.reserve(keys.size());
  for (const Key& key : keys) out.push_back({.configuration = std::get<2>(key), .number = std::get<0>(key)});
  return out;
}

}  // namespace flopwatt::sweep
