#include "flopwatt/model/masked_encoder.hpp"

namespace flopwatt::model::families::bert {
namespace {

constexpr MaskedEncoder kBert{.body = "bert.",
                              .pooled_classifier = true,
                              .head = "cls.predictions.",
                              .transform = "transform.dense",
                              .norm = "transform.LayerNorm"};

void read(Draft& draft) { read_masked_encoder(draft, kBert); }

}  // namespace

/// BERT (arXiv 1810.04805), and the embedding models in its shape.
extern const Family family{.name = "bert", .model_types = {"bert"}, .class_stems = {"Bert"}, .read = read};

}  // namespace flopwatt::model::families::bert
