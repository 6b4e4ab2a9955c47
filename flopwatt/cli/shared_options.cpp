#include "flopwatt/cli/shared_options.hpp"

#include <array>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <optional>

namespace flopwatt::cli {

void add_format(Command& command, OutputOptions& output) {
  using report::Format;
  static constexpr Choice<Format> kFormats[] = {{"text", Format::text},
                                                {"json", Format::json},
                                                {"markdown", Format::markdown},
                                                {"latex", Format::latex},
                                                {"csv", Format::csv}};
  command.group("Output");
  // Either may come first: the second one to ask for another format is refused.
  const auto asked = std::make_shared<std::optional<Format>>();
  const auto ask = [&output, asked](Format format) -> Result<void> {
    if (*asked && **asked != format) return fail(Errc::usage, "--json and --format ask for different formats");
    output.format = format;
    *asked = format;
    return {};
  };
  command.add(
      "--json", "", "one JSON object on stdout and nothing else",
      [ask](const std::string& word) -> Result<void> { return word == "true" ? ask(Format::json) : Result<void>{}; });
  command.add("--format", "text|json|markdown|latex|csv", "how to print (csv: the tables only)",
              [ask](const std::string& word) -> Result<void> {
                std::array<std::string_view, std::size(kFormats)> names;
                for (std::size_t i = 0; i < names.size(); ++i) names[i] = kFormats[i].name;
                FLOPWATT_TRY(const std::size_t i, read_choice(word, names));
                return ask(kFormats[i].value);
              });
}

void add_output(Command& command, OutputOptions& output) {
  add_format(command, output);
  command.text("-o,--output", "FILE", output.file, "write there instead of to stdout");
}

void add_data(Command& command, DataOptions& data) {
  command.group("Output").text(
      "--data", "DIR", data.folder,
      "devices/, models/ and calibrations/ in DIR extend and override what ships; FLOPWATT_DATA "
      "does the same");
}

std::vector<std::string> data_folders(const DataOptions& data) {
  std::vector<std::string> folders;
  if (const char* folder = std::getenv("FLOPWATT_DATA"); folder != nullptr && *folder != '\0')
    folders.emplace_back(folder);
  if (!data.folder.empty()) folders.push_back(data.folder);
  return folders;
}

Result<engine::Facts> load_facts(const DataOptions& data) { return engine::Facts::load(data_folders(data)); }

void add_device(Command& command, engine::DeviceWords& device) {
  command.group("Device");
  command.text("--device", "DEVICE", device.name, "catalogue name, alias, or what the driver reports");
  command.add("--peak-tflops", "N", "dense peak of the dtype, for a device that is not in the catalogue",
              [&device](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(const double teraflops, read_real(word, {.min = 0, .max = 1e9}));
                device.given.peak = teraflops * units::teraflop_per_second;
                return {};
              });
  command.add("--mem-bw-gbs", "N", "memory bandwidth in GB/s", [&device](const std::string& word) -> Result<void> {
    FLOPWATT_TRY(const double gigabytes, read_real(word, {.min = 0, .max = 1e9}));
    device.given.memory_bandwidth = gigabytes * units::gigabyte_per_second;
    return {};
  });
  command.add("--tdp-w", "N", "board power limit in W", [&device](const std::string& word) -> Result<void> {
    FLOPWATT_TRY(const double watts, read_real(word, {.min = 0, .max = 1e7}));
    device.given.board_limit = watts * units::watt;
    return {};
  });
}

void add_model(Command& command, std::string& model, std::string& as_family) {
  command.positional("MODEL", model, "a config.json, a folder holding one, or a catalogue name");
  command.group("Workload");
  command.text("--as", "FAMILY", as_family, "read the config as this family whatever its model_type says");
}

void add_sizes(Command& command, engine::WorkloadWords& words, const std::string& batch_flag,
               const std::string& batch_help) {
  command.group("Workload");
  command.whole(batch_flag, words.workload.batch, {}, batch_help);
  command.whole("--seq", words.sequence, {}, "tokens a sequence really holds (a prompt, where it generates)");
  command.dtype("--dtype", words.dtype, "float32, tf32, float16, bfloat16, fp8, int8, fp4, int4; default: the model's");
}

void add_conventions(Command& command, work::Workload& workload) {
  using work::BodyCount;
  using work::Kernel;
  using work::Logits;
  using work::MaskConvention;
  static constexpr Choice<MaskConvention> kMasks[] = {
      {"full", MaskConvention::full}, {"causal", MaskConvention::causal}, {"causal-half", MaskConvention::causal_half}};
  static constexpr Choice<Kernel> kKernels[] = {
      {"eager", Kernel::eager}, {"sdpa", Kernel::sdpa}, {"flash", Kernel::flash}};
  static constexpr Choice<Logits> kLogits[] = {{"all", Logits::all}, {"last", Logits::last}};
  static constexpr Choice<BodyCount> kBodies[] = {{"products", BodyCount::products},
                                                  {"parameters", BodyCount::parameters}};
  command.group("Counting conventions");
  command.choice("--attention", workload.mask, kMasks, "query-key pairs that model FLOPs count; default full (PaLM)");
  command.choice("--kernel", workload.kernel, kKernels, "attention kernel that really runs: hardware FLOPs and memory");
  command.choice("--logits", workload.logits, kLogits, "positions of the LM head; default all in training, else last");
  command.choice("--body", workload.body, kBodies, "count the products, or two FLOPs a body parameter");
}

void add_training(Command& command, work::Workload& workload) {
  using work::Optimizer;
  using work::Recompute;
  static constexpr Choice<Recompute> kRecompute[] = {
      {"none", Recompute::none}, {"selective", Recompute::selective}, {"full", Recompute::full}};
  static constexpr Choice<Optimizer> kOptimizers[] = {{"adamw", Optimizer::adamw},
                                                      {"adamw-8bit", Optimizer::adamw_8bit},
                                                      {"sgd", Optimizer::sgd},
                                                      {"sgd-momentum", Optimizer::sgd_momentum},
                                                      {"none", Optimizer::none}};
  command.group("Training");
  command.choice("--recompute", workload.recompute, kRecompute, "activations computed again in the backward pass");
  command.whole("--recompute-layers", workload.recompute_layers, {}, "with full: only the first N layers");
  command.choice("--optimizer", workload.optimizer, kOptimizers, "default adamw");
  command.dtype("--optimizer-dtype", workload.optimizer_precision, "of the optimizer's states; default float32");
  command.flag("--master-weights", workload.master_weights, "a float32 copy of 16-bit weights is kept");
  command.add("--trainable", "WHAT", "all, head, none, or lora:r=16,targets=q_proj+v_proj",
              [&workload](const std::string& word) -> Result<void> {
                FLOPWATT_TRY(workload.trainable, work::parse_trainable(word));
                return {};
              });
}

}  // namespace flopwatt::cli
