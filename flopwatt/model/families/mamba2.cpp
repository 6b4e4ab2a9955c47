#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/recurrent_mixers.hpp"

namespace flopwatt::model::families::mamba2 {
namespace {

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  const Mamba2 mixer{.heads = config.size("num_heads"),
                     .head_dim = config.size("head_dim"),
                     .state = config.size("state_size", 128),
                     .groups = config.size("n_groups", 8),
                     .kernel = config.size("conv_kernel", 4),
                     .conv_bias = config.flag("use_conv_bias", true),
                     .bias = config.flag("use_bias", false)};
  config.require(mixer.heads * mixer.head_dim == config.size("expand", 2) * hidden, "num_heads",
                 "times head_dim is not expand times hidden_size");
  config.require(mixer.heads % mixer.groups == 0, "n_groups", "does not divide num_heads");

  StackBuilder text{draft, hidden, "backbone."};
  text.token_embedding("embeddings", vocabulary);
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.block().elementwise.residuals = 1;
    layer.rms_norm("norm", hidden);
    mamba2_mixer(layer, "mixer", mixer);
  });
  text.outside().rms_norm("norm_f", hidden);
  text.head({.tied = draft.tied_embeddings(false)});
  text.finish(draft.model);
}

}  // namespace

/// Mamba 2 (arXiv 2405.21060), Codestral Mamba among them.
extern const Family family{.name = "mamba2", .model_types = {"mamba2"}, .class_stems = {"Mamba2"}, .read = read};

}  // namespace flopwatt::model::families::mamba2
