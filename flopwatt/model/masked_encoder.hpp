#pragma once

#include <string_view>

#include "flopwatt/model/family.hpp"

namespace flopwatt::model {

/// What tells BERT and RoBERTa apart: the names of their tensors, and how they classify.
struct MaskedEncoder {
  std::string_view body;             ///< prefix of the body, unless the class is the body alone: "bert."
  bool pooled_classifier = true;     ///< sequences are classified from the pooler, not by a head of two products
  std::string_view head;             ///< prefix of the head that guesses words: "cls.predictions."
  std::string_view transform, norm;  ///< in that head, before the vocabulary product
};

/// Reads an encoder with norms behind its sublayers, and what the draft's class puts on top of it.
void read_masked_encoder(Draft& draft, const MaskedEncoder& line);

}  // namespace flopwatt::model
