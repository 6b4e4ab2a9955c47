#pragma once

#include <cstdint>
#include <string_view>

#include "flopwatt/model/module.hpp"

/// Layers that carry a state along the sequence in the place of attention.

namespace flopwatt::model {

/// Mamba (arXiv 2312.00752): every channel of `inner` has a state of its own.
struct Mamba1 {
  std::int64_t inner = 0, state = 0, step_rank = 0, kernel = 0;
  bool conv_bias = true;
  bool bias = false;         ///< of the projections in and out
  bool inner_norms = false;  ///< step, B and C are normalised (Jamba, arXiv 2403.19887)
};
/// in_proj, conv1d, x_proj, dt_proj, A_log, D, out_proj.
void mamba1_mixer(Layer& layer, std::string_view name, const Mamba1& mixer);

/// Mamba 2 (arXiv 2405.21060): heads of channels that share their decay, groups of heads that share B and C.
struct Mamba2 {
  std::int64_t heads = 0, head_dim = 0, state = 0, groups = 0, kernel = 0;
  bool conv_bias = true;
  bool bias = false;  ///< of the projections in and out
};
/// in_proj, conv1d, dt_bias, A_log, D, norm, out_proj.
void mamba2_mixer(Layer& layer, std::string_view name, const Mamba2& mixer);

/// The gated delta rule (arXiv 2412.06464): a state of [key_dim, value_dim] for every value head.
struct GatedDelta {
  std::int64_t key_heads = 0, value_heads = 0, key_dim = 0, value_dim = 0, kernel = 0;
  bool fused = true;  ///< in_proj_qkvz and in_proj_ba, or in_proj_qkv, _z, _b and _a
};
void gated_delta_mixer(Layer& layer, std::string_view name, const GatedDelta& mixer);

}  // namespace flopwatt::model
