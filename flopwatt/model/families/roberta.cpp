#include "flopwatt/model/masked_encoder.hpp"

namespace flopwatt::model::families::roberta {
namespace {

constexpr MaskedEncoder kRoberta{
    .body = "roberta.", .pooled_classifier = false, .head = "lm_head.", .transform = "dense", .norm = "layer_norm"};

void read(Draft& draft) { read_masked_encoder(draft, kRoberta); }

}  // namespace

/// RoBERTa (arXiv 1907.11692) and XLM-RoBERTa.
extern const Family family{.name = "roberta",
                           .model_types = {"roberta", "xlm-roberta", "camembert"},
                           .class_stems = {"Roberta", "XLMRoberta", "Camembert"},
                           .read = read};

}  // namespace flopwatt::model::families::roberta
