#include "flopwatt/work/workload.hpp"

#include <array>
#include <charconv>

namespace flopwatt::work {
namespace {

template <std::size_t N, class Enum>
std::string_view pick(const std::array<std::string_view, N>& names, Enum value) noexcept {
  return names[static_cast<std::size_t>(value)];
}

constexpr std::array<std::string_view, 5> kPhases{"train", "prefill", "decode", "generate", "encode"};
constexpr std::array<std::string_view, 3> kMasks{"full", "causal", "causal-half"};
constexpr std::array<std::string_view, 3> kKernels{"eager", "sdpa", "flash"};
constexpr std::array<std::string_view, 3> kRecomputes{"none", "selective", "full"};
constexpr std::array<std::string_view, 2> kLogits{"all", "last"};
constexpr std::array<std::string_view, 2> kBodies{"products", "parameters"};
constexpr std::array<std::string_view, 5> kOptimizers{"adamw", "adamw-8bit", "sgd", "sgd-momentum", "none"};

tl::unexpected<Error> bad_trainable(std::string_view text) {
  return fail(Errc::usage, "cannot read '" + base::excerpt(text) + "'", "--trainable",
              "give all, head, none or lora:r=16,targets=q_proj+v_proj");
}

}  // namespace

std::string_view name(Phase value) noexcept { return pick(kPhases, value); }
std::string_view name(MaskConvention value) noexcept { return pick(kMasks, value); }
std::string_view name(Kernel value) noexcept { return pick(kKernels, value); }
std::string_view name(Recompute value) noexcept { return pick(kRecomputes, value); }
std::string_view name(Logits value) noexcept { return pick(kLogits, value); }
std::string_view name(BodyCount value) noexcept { return pick(kBodies, value); }
std::string_view name(Optimizer value) noexcept { return pick(kOptimizers, value); }

Result<Trainable> parse_trainable(std::string_view text) {
  Trainable result;
  if (text == "all") return result;
  if (text == "head" || text == "none") {
    result.kind = text == "head" ? Trainable::Kind::head : Trainable::Kind::none;
    return result;
  }
  constexpr std::string_view kLora = "lora:";
  if (!text.starts_with(kLora)) return bad_trainable(text);
  result.kind = Trainable::Kind::lora;
  // Fields are separated by ',', and so are targets: a field without '=' is one more target.
  std::string_view rest = text.substr(kLora.size());
  bool in_targets = false;
  while (!rest.empty()) {
    const std::size_t end = rest.find_first_of(",+");
    std::string_view field = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
    if (field.starts_with("r=")) {
      const std::string_view digits = field.substr(2);
      const auto [last, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.lora_rank);
      if (error != std::errc{} || last != digits.data() + digits.size()) return bad_trainable(text);
      in_targets = false;
      continue;
    }
    if (field.starts_with("targets=")) {
      field = field.substr(8);
      in_targets = true;
    }
    if (!in_targets || field.empty() || field.find('=') != std::string_view::npos) return bad_trainable(text);
    result.lora_targets.emplace_back(field);
  }
  if (result.lora_rank < 1) return bad_trainable(text);
  return result;
}

}  // namespace flopwatt::work
