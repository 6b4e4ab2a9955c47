#pragma once

#include <cstdint>
#include <optional>

#include "flopwatt/model/decoder_sizes.hpp"
#include "flopwatt/model/family.hpp"
#include "flopwatt/model/recurrent_mixers.hpp"

namespace flopwatt::model {

/// What tells Qwen's hybrids apart: layers of the gated delta rule, and gated attention in every fourth.
struct DeltaDecoder {
  DecoderDefaults sizes;
  GatedDelta mixer;
  /// A mixture of experts and its shared expert; absent: a dense feed-forward in every layer.
  struct Experts {
    std::int64_t experts = 0, top_k = 0, width = 0, shared_width = 0;
    bool fused = false;  ///< stored together in two tensors
  };
  std::optional<Experts> experts;
  /// Layers of the prediction module where the config does not say: it is never part of the count.
  std::int64_t prediction_layers = 0;
};

void read_delta_decoder(Draft& draft, const DeltaDecoder& defaults);

}  // namespace flopwatt::model
