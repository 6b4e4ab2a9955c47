#pragma once

#include <string>

#include "flopwatt/model/family.hpp"

/// The vision encoders of the Qwen models: images of any size in patches, of which merge·merge become one token.
/// Each reads the draft's `vision_config`, adds the stack to its model and fills VisionInput.  `prefix` is that of the
/// tensors ("visual.").

namespace flopwatt::model {

/// Qwen2-VL (arXiv 2409.12191).
void qwen2_vision(const Draft& draft, const std::string& prefix);
/// Qwen2.5-VL (arXiv 2502.13923): gated feed-forwards, and windows in all but a few layers.
void qwen2_5_vision(const Draft& draft, const std::string& prefix);
/// Qwen3-VL and Qwen3.5: learned positions; with `deepstack` some layers' outputs too are merged into tokens.
struct Qwen3Vision {
  bool deepstack = true;
};
void qwen3_vision(const Draft& draft, const std::string& prefix, const Qwen3Vision& form);

}  // namespace flopwatt::model
