#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "flopwatt/model/config_reader.hpp"
#include "flopwatt/model/stack_builder.hpp"

/// The vision encoders that language models are joined to.

namespace flopwatt::model {

/// The shape of a vision transformer.
struct VisionShape {
  std::int64_t hidden = 1, layers = 1, heads = 1, ffn = 1;
  std::int64_t channels = 3, patch = 1;
  std::int64_t image = 1;  ///< pixels along one side of the images it was built for
  Activation activation = Activation::gelu;

  [[nodiscard]] std::int64_t side() const noexcept { return image / patch; }  ///< patches along one side
  [[nodiscard]] std::int64_t patches() const noexcept { return side() * side(); }
  [[nodiscard]] std::int64_t head_dim() const noexcept { return hidden / heads; }
};

/// hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, num_channels, patch_size, image_size,
/// hidden_act.  Fails where heads do not divide the width or patches are larger than the image.
[[nodiscard]] VisionShape read_vision_shape(const ConfigReader& config, const VisionShape& defaults);

/// Patches up to this side, in pixels: keeps the width of a patch in 64 bits.
inline constexpr std::int64_t kMaxPatch = 4096;

/// NAME.weight [hidden, channels, (temporal,) patch, patch]: one product a patch.
struct PatchEmbedding {
  std::string_view name;
  std::int64_t channels = 3, patch = 1;
  std::optional<std::int64_t> temporal;  ///< frames that make one patch
  bool bias = false;
};
void patch_embedding(Module module, std::int64_t hidden, const PatchEmbedding& patches);

/// A vision encoder of a kind that several models use, and what one of its images becomes.
struct VisionTower {
  StackBuilder stack;
  VisionShape shape;
  std::int64_t class_tokens = 0;
  bool any_size = false;  ///< takes images of any size
};
/// Reads a CLIP, SigLIP or Pixtral encoder, whichever `model_type` says (absent: `class_default`); any other is refused
/// by name.  `prefix` is that of its tensors.
[[nodiscard]] VisionTower read_vision_tower(const ConfigReader& config, std::string_view class_default,
                                            const std::string& prefix);

/// A product of the projector behind the tower.
[[nodiscard]] Linear projector(std::string_view name, std::int64_t in, std::int64_t out, bool bias,
                               std::int64_t patches_a_row = 1);

}  // namespace flopwatt::model
