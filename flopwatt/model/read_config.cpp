#include "flopwatt/model/read_config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>
#include <vector>

#include "flopwatt/base/check.hpp"
#include "flopwatt/model/quantization.hpp"

namespace flopwatt::model {
namespace {

std::string family_names() {
  std::vector<std::string_view> names;
  for (const Family* family : all_families()) names.push_back(family->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Family* family_named(std::string_view name) {
  for (const Family* family : all_families()) {
    if (family->name == name) return family;
  }
  return nullptr;
}

/// GPT-2's first files (DialoGPT) say neither what they are nor which class reads them.
bool looks_like_gpt2(const ConfigReader& config) {
  return config.has("n_embd") && config.has("n_head") && config.has("n_layer") && config.has("n_ctx");
}

/// The family for this file; null after a failure.
const Family* choose_family(const ConfigReader& config, Architecture& model, const ReadOptions& options) {
  model.model_type = config.text("model_type", "");
  const std::vector<std::string> classes = config.texts("architectures");
  if (!classes.empty()) model.class_name = classes.front();

  if (!options.as_family.empty()) {
    const Family* family = family_named(options.as_family);
    if (!family) return nullptr;
    config.note(fmt::format("read as '{}' on request, whatever the file says it is (model_type '{}')", family->name,
                            base::excerpt(model.model_type)));
    return family;
  }
  if (!model.model_type.empty()) {
    const Family* family = family_of_model_type(model.model_type);
    if (!family) {
      config.fail("model_type", fmt::format("'{}' is not supported", base::excerpt(model.model_type)),
                  fmt::format("--as FAMILY reads it as one of {}", family_names()));
    }
    return family;
  }
  if (!model.class_name.empty()) {
    const Family* family = family_of_class(model.class_name);
    if (!family) {
      config.fail("architectures", fmt::format("names '{}', which is not supported", base::excerpt(model.class_name)),
                  fmt::format("--as FAMILY reads it as one of {}", family_names()));
      return nullptr;
    }
    config.note(fmt::format("no model_type: read as '{}' because of its class", family->name));
    return family;
  }
  if (const Family* gpt2 = family_named("gpt2"); gpt2 && looks_like_gpt2(config)) {
    config.note("neither model_type nor architectures: read as 'gpt2' because of its keys");
    return gpt2;
  }
  config.fail("model_type", "is missing, and so is architectures",
              fmt::format("--as FAMILY reads it as one of {}", family_names()));
  return nullptr;
}

Head choose_head(const ConfigReader& config, const Architecture& model, const ReadOptions& options) {
  const std::optional<Head> head = head_of_class(model.class_name);
  if (head) return *head;
  if (options.as_family.empty()) {
    config.fail("architectures", fmt::format("names '{}', whose head is unknown", base::excerpt(model.class_name)),
                "--as FAMILY counts it with a language-model head");
  } else {
    config.note(fmt::format("the head of '{}' is unknown: counted with a language-model head",
                            base::excerpt(model.class_name)));
  }
  return Head::language_model;
}

std::int64_t label_count(const ConfigReader& config) {
  if (const auto labels = config.optional_object("id2label")) {
    const auto count = static_cast<std::int64_t>(labels->keys().size());
    if (count > 0) return count;
  }
  return config.size("num_labels", 2);  // PretrainedConfig's default
}

std::optional<units::Precision> stored_dtype(const ConfigReader& config) {
  for (const std::string_view key : {"dtype", "torch_dtype"}) {
    if (!config.has(key)) continue;
    const std::string text = config.text(key, "");
    if (const auto precision = units::parse_precision(text)) return precision;
    config.note(fmt::format("{} '{}' is not a known number format", key, base::excerpt(text)));
  }
  const auto text = config.optional_object("text_config");
  return text ? stored_dtype(*text) : std::nullopt;
}

void check_result(const ConfigReader& config, const Architecture& model) {
  FLOPWATT_CHECK(!model.stacks.empty());
  config.require(!census(model).total.overflowed(), "", "describes more parameters than can be counted");
}

}  // namespace

std::string_view class_stem(std::string_view class_name) noexcept {
  for (const std::string_view end : {"For", "LMHead", "Model", "Decoder"}) {
    if (const auto at = class_name.rfind(end); at != std::string_view::npos && at > 0) return class_name.substr(0, at);
  }
  return class_name;
}

std::optional<Head> head_of_class(std::string_view class_name) noexcept {
  struct Ending {
    std::string_view text;
    Head head;
  };
  // The longest first: "LMHeadModel" before "Model".
  static constexpr std::array<Ending, 11> kClassEndings{{{"ForSequenceClassification", Head::sequence_class},
                                                         {"ForConditionalGeneration", Head::language_model},
                                                         {"ForTokenClassification", Head::token_class},
                                                         {"ForQuestionAnswering", Head::answer_span},
                                                         {"ForPreTraining", Head::masked_model},
                                                         {"WithLMHeadModel", Head::language_model},
                                                         {"ForMaskedLM", Head::masked_model},
                                                         {"LMHeadModel", Head::language_model},
                                                         {"ForCausalLM", Head::language_model},
                                                         {"ForRewardModel", Head::none},
                                                         {"Model", Head::none}}};
  if (class_name.empty()) return Head::language_model;
  for (const Ending& ending : kClassEndings) {
    if (!class_name.ends_with(ending.text)) continue;
    if (class_name.ends_with("RewardModel")) return std::nullopt;
    return ending.head;
  }
  return std::nullopt;
}

const Family* family_of_model_type(std::string_view model_type) noexcept {
  if (model_type.empty()) return nullptr;
  for (const Family* family : all_families()) {
    for (const std::string_view known : family->model_types) {
      if (known == model_type) return family;
    }
  }
  return nullptr;
}

const Family* family_of_class(std::string_view class_name) noexcept {
  const std::string_view stem = class_stem(class_name);
  if (stem.empty()) return nullptr;
  for (const Family* family : all_families()) {
    for (const std::string_view known : family->class_stems) {
      if (known == stem) return family;
    }
  }
  return nullptr;
}

void read_text_config(Draft& draft, std::string_view class_default) {
  // Where the part is missing, the draft is still the whole file's, whose own family would be asked for ever.
  if (draft.config.failed()) return;
  const std::string model_type = draft.config.text("model_type", class_default);
  if (const Family* family = family_of_model_type(model_type)) return family->read(draft);
  draft.config.fail("model_type", fmt::format("'{}' is not supported", base::excerpt(model_type)));
}

Result<Architecture> read_config(std::string_view json, std::string_view where, const ReadOptions& options) {
  if (!options.as_family.empty() && !family_named(options.as_family)) {
    return fail(Errc::usage, fmt::format("'{}' is not a family", base::excerpt(options.as_family)), "--as",
                fmt::format("use one of {}", family_names()));
  }
  FLOPWATT_TRY(const io::Json document, io::parse_json(json, where, {.nonfinite_numbers = true}));
  if (!document.is_object()) {
    return fail(Errc::bad_data, "is not a JSON object", std::string{where}, "give a Hugging Face config.json");
  }

  ReadState state{.where = std::string{where}};
  const ConfigReader config{document, "", state};
  Architecture model{.name = options.name.empty() ? state.where : options.name, .source = state.where};
  const Family* family = choose_family(config, model, options);
  const Head head = choose_head(config, model, options);
  if (state.error) return fail(std::move(*state.error));

  model.family = family->name;
  if (model.model_type.empty()) model.model_type = family->model_types.front();
  model.dtype = stored_dtype(config);
  model.quantization = read_quantization(config);
  Draft draft{.config = config, .model = model, .head = head, .labels = label_count(config)};
  family->read(draft);
  if (!state.error) check_result(config, model);
  if (state.error) return fail(std::move(*state.error));
  model.notes = std::move(state.notes);
  return model;
}

}  // namespace flopwatt::model
