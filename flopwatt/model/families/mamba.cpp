#include "flopwatt/model/building_blocks.hpp"
#include "flopwatt/model/recurrent_mixers.hpp"

namespace flopwatt::model::families::mamba {
namespace {

/// "auto" is a sixteenth of the hidden size, rounded up.
std::int64_t step_rank(const ConfigReader& config, std::int64_t hidden) {
  if (config.is_text("time_step_rank")) {
    config.require(config.text("time_step_rank", "auto") == "auto", "time_step_rank", "is a text other than 'auto'");
    return (hidden + 15) / 16;
  }
  return config.size("time_step_rank", (hidden + 15) / 16);
}

void read(Draft& draft) {
  const ConfigReader& config = draft.config;
  const std::int64_t vocabulary = config.size("vocab_size");
  const std::int64_t hidden = config.size("hidden_size");
  const std::int64_t layers = config.layers("num_hidden_layers");
  // `intermediate_size` and `d_inner` are there for show: the class takes `expand` alone.
  const Mamba1 mixer{.inner = config.size("expand", 2) * hidden,
                     .state = config.size("state_size", 16),
                     .step_rank = step_rank(config, hidden),
                     .kernel = config.size("conv_kernel", 4),
                     .conv_bias = config.flag("use_conv_bias", true),
                     .bias = config.flag("use_bias", false)};

  StackBuilder text{draft, hidden, "backbone."};
  text.token_embedding("embeddings", vocabulary);
  text.layers(layers, "layers", [&](Layer& layer) {
    layer.block().elementwise.residuals = 1;
    layer.rms_norm("norm", hidden);
    mamba1_mixer(layer, "mixer", mixer);
  });
  text.outside().rms_norm("norm_f", hidden);
  text.head({.tied = draft.tied_embeddings(true)});
  text.finish(draft.model);
}

}  // namespace

/// Mamba (arXiv 2312.00752), and Falcon-Mamba in the same shape (its inner norms have no weights).
extern const Family family{
    .name = "mamba", .model_types = {"mamba", "falcon_mamba"}, .class_stems = {"Mamba", "FalconMamba"}, .read = read};

}  // namespace flopwatt::model::families::mamba
