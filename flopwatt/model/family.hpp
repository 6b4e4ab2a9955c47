#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/config_reader.hpp"

namespace flopwatt::model {

/// What stands on top of the body, as the class name in `architectures` says.
enum class Head : std::uint8_t {
  none,            ///< …Model
  language_model,  ///< …ForCausalLM, …LMHeadModel, …ForConditionalGeneration, or no class at all
  masked_model,    ///< …ForMaskedLM, …ForPreTraining
  sequence_class,  ///< …ForSequenceClassification: `score`, one row a sequence, without bias
  token_class,     ///< …ForTokenClassification: `score`, one row a token, with bias
  answer_span,     ///< …ForQuestionAnswering: `qa_outputs`, one row a token, with bias
};

/// An architecture in the making: what a family reads, where it writes, and what a model around it has decided.
struct Draft {
  ConfigReader config;  ///< of the whole file, or the text_config of a multimodal one
  Architecture& model;
  Head head = Head::language_model;
  std::int64_t labels = 2;  ///< rows of a classification head
  /// Set by a model around this one; otherwise the family's own.
  std::optional<std::string> body_prefix;  ///< "language_model.model."
  std::string head_prefix;                 ///< "language_model."
  std::optional<bool> tied;                ///< embedding and head share their storage

  /// Whether the head shares the embedding's storage: decided outside, or by the config, or by the class default.
  [[nodiscard]] bool tied_embeddings(bool class_default) const {
    return tied ? *tied : config.flag("tie_word_embeddings", class_default);
  }
};

/// One architecture family: the names under which its files go, and how to read them.  Each file in families/ defines
/// one `extern const Family` named as the file; CMake gathers them (docs/adding-a-family.md).
struct Family {
  std::string_view name;                        ///< what `--as` takes
  std::array<std::string_view, 6> model_types;  ///< values of `model_type`
  std::array<std::string_view, 4> class_stems;  ///< class names up to For…, Model, LMHeadModel: for files without type
  void (*read)(Draft& draft) = nullptr;
};

/// All families, by name.
[[nodiscard]] std::span<const Family* const> all_families() noexcept;
/// The family that reads this model_type, or null.
[[nodiscard]] const Family* family_of_model_type(std::string_view model_type) noexcept;
/// The family that reads classes like "LlamaForCausalLM", or null.
[[nodiscard]] const Family* family_of_class(std::string_view class_name) noexcept;

/// "Llama" of "LlamaForCausalLM".
[[nodiscard]] std::string_view class_stem(std::string_view class_name) noexcept;
/// Nothing for a class whose head is unknown ("…ForRewardModel").
[[nodiscard]] std::optional<Head> head_of_class(std::string_view class_name) noexcept;

}  // namespace flopwatt::model
