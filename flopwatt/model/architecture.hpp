#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/units/count.hpp"
#include "flopwatt/units/precision.hpp"

/// What a model is: stacks of layers, each layer one of a few distinct blocks, each block a list of tensors and the
/// attention, recurrence and routing that no tensor shape tells.  Everything else (parameters, FLOPs, bytes, memory)
/// is a fold over this.  A 126-layer model has two or three blocks, so that a fold costs microseconds.

namespace flopwatt::model {

/// Where a parameter is accounted.  The components partition the total.
enum class Component : std::uint8_t { embedding, lm_head, attention, mlp, experts, router, norm, vision, other };
inline constexpr std::size_t kComponentCount = 9;
/// The JSON key: "embedding", "lm_head", "attention", …
[[nodiscard]] std::string_view name(Component component) noexcept;

/// What a tensor does in a forward pass.
enum class Use : std::uint8_t {
  product,      ///< y = x·W: 2·k·n FLOPs a row
  bias,         ///< added to a product's result
  scale,        ///< multiplied or added elementwise: norm weights, gates, decay rates
  lookup,       ///< one row gathered a token: embeddings, learned positions
  convolution,  ///< depthwise convolution along the sequence (its taps are elementwise work, not products)
};

/// Which rows pass through a product.
enum class Rows : std::uint8_t {
  tokens,     ///< every token of its stack
  logits,     ///< every position, or the last of each sequence (--logits)
  routed,     ///< tokens · top_k of the block's routing, spread over the experts
  sequences,  ///< one a sequence: pooler, classification score
  memory,     ///< every token of the encoder's output: keys and values of cross-attention
  patches,    ///< every patch of an image: the vision stack's tokens without its class tokens
};

/// A parameter tensor of a block or of a stack.
struct Tensor {
  /// Checkpoint name; "{layer}" and "{expert}" stand for indices: "model.layers.{layer}.mlp.gate_proj.weight".
  std::string name;
  /// Name of the operator class in a ledger, one a distinct product: "attention.q", "mlp.gate".  Static storage.
  std::string_view label;
  std::array<std::int64_t, 5> dims{};  ///< stored shape, outermost first
  std::uint8_t rank = 0;
  Component component = Component::other;
  Use use = Use::scale;
  Rows rows = Rows::tokens;
  /// Product shape [rows × k]·[k × n]; 0 for anything but a product.  A fused expert tensor [E, k, n] has the k and n
  /// of one expert.
  std::int64_t k = 0, n = 0;
  /// Rows that make one row of this product: 4 behind a vision merger that joins 2×2 patches.
  std::int64_t rows_divisor = 1;
  std::int64_t rows_factor = 1;  ///< rows of this product for one token: 2 ahead of a convolution of stride 2
  /// Tensors of this shape: the expert count where each expert has a tensor of its own ("{expert}" in the name).
  std::int64_t copies = 1;
  /// True if the tensor is another one's storage (a tied head): it does work but holds no parameters.
  bool tied = false;
};

/// Elements of one copy: the product of the dims.
[[nodiscard]] units::Count elements(const Tensor& tensor) noexcept;
/// Parameters that the tensor adds to the total: elements · copies, 0 if tied.
[[nodiscard]] units::Count parameters(const Tensor& tensor) noexcept;

/// Multi-head latent attention (DeepSeek-V2, arXiv 2405.04434): what decode can absorb, and what the cache holds.
struct LatentAttention {
  std::optional<std::int64_t> query_rank;                  ///< q_lora_rank; absent: a plain query projection
  std::int64_t kv_rank = 0;                                ///< kv_lora_rank: cached a token, with rope_dim
  std::int64_t nope_dim = 0, rope_dim = 0, value_dim = 0;  ///< a head
};

/// A learned index that picks the keys each query attends to (DeepSeek-V3.2's lightning indexer).
struct SparseIndex {
  std::int64_t heads = 0, head_dim = 0, top_k = 0;
};

/// The part of an attention that has no weights: scores and values.
struct Attention {
  std::int64_t query_heads = 0, kv_heads = 0;
  std::int64_t head_dim = 0;        ///< of queries and keys
  std::int64_t value_head_dim = 0;  ///< of values
  bool causal = true;
  bool cross = false;                  ///< keys and values come from the encoder's output
  std::optional<std::int64_t> window;  ///< a query sees at most this many keys, itself included
  std::optional<std::int64_t> chunk;   ///< a query sees only its own chunk of this many positions (Llama 4)
  std::optional<LatentAttention> latent;
  std::optional<SparseIndex> sparse;
};

/// A layer that carries a state along the sequence instead of a cache.
struct Recurrence {
  enum class Kind : std::uint8_t { mamba1, mamba2, gated_delta, rwkv, short_convolution };
  Kind kind = Kind::mamba1;
  std::int64_t heads = 1;          ///< value heads
  std::int64_t head_dim = 0;       ///< channels a head (mamba1: heads 1, head_dim = inner width)
  std::int64_t state_dim = 0;      ///< state a channel (gated delta: the key head_dim)
  std::int64_t conv_channels = 0;  ///< channels of the causal convolution, 0 if none
  std::int64_t conv_kernel = 0;
};

/// The elementwise work around the products, which no tensor shape tells.
enum class Norm : std::uint8_t { none, layer_norm, rms_norm };
/// `gelu_tanh` is the tanh approximation written out ("gelu_new"): eight kernels where `gelu` is one.
enum class Activation : std::uint8_t { none, gelu, gelu_tanh, quick_gelu, silu, relu, relu_squared };
struct Elementwise {
  Norm norm = Norm::rms_norm;  ///< kind of the block's norms; how many and how wide, its tensors tell
  Activation activation = Activation::silu;
  bool gated = false;          ///< act(gate) · up
  bool rotary = false;         ///< queries and keys are rotated
  std::int64_t residuals = 2;  ///< additions to the residual stream
};

/// How tokens are spread over experts.
struct Routing {
  std::int64_t experts = 0, top_k = 0;
};

/// One distinct kind of layer.
struct Block {
  std::string kind;  ///< for people: "attention+mlp", "attention+experts", "mamba2"
  std::vector<Tensor> tensors;
  std::vector<Attention> attentions;  ///< usually one; self and cross in a decoder with an encoder
  std::optional<Recurrence> recurrence;
  std::optional<Routing> routing;
  Elementwise elementwise;
};

enum class StackRole : std::uint8_t { decoder, encoder, vision, audio };

/// A sequence of layers over one stream of tokens.
struct Stack {
  StackRole role = StackRole::decoder;
  std::int64_t hidden = 0;
  std::vector<Block> blocks;
  std::vector<std::uint16_t> layers;  ///< layers[i] indexes blocks: the order of the real model
  std::vector<Tensor> outside;        ///< embedding, final norm, head, projections
  /// Layers of each block, in the order of `blocks` (kept, so that folds need not walk the layers).
  std::vector<std::int64_t> block_counts;
};

/// How a vision stack turns an image into tokens, as far as the config says.
struct VisionInput {
  std::int64_t patch = 0;             ///< pixels along one side of a patch
  std::optional<std::int64_t> image;  ///< pixels along one side of the image it was built for
  std::int64_t merge = 1;             ///< patches joined along each side before the text stack sees them
  std::int64_t temporal_patch = 1;
  std::int64_t extra_tokens = 0;  ///< class tokens
};

/// Parameters that a checkpoint may hold and the census leaves out, each with the reason.
struct Excluded {
  std::string what;  ///< "multi-token prediction module", "rotary inv_freq buffers"
  units::Count parameters;
  std::string why;
  std::vector<std::string> name_patterns;  ///< substrings of checkpoint names: "model.layers.61.", "inv_freq"
};

/// Storage of quantised weights: changes bytes, never the number of parameters.
struct Quantization {
  std::string method;  ///< "fp8", "gptq", "awq", "mxfp4", "bitsandbytes", "compressed-tensors", …
  units::Precision precision = units::Precision::fp8;
  std::optional<std::int64_t> group_size;  ///< weights that share one scale along k
  std::vector<std::int64_t> block_size;    ///< or a 2-D block: {128, 128}
  std::vector<std::string> not_converted;  ///< modules kept in the base type
};

struct Architecture {
  std::string name;        ///< as the user named it: catalogue name or path
  std::string source;      ///< where the shapes come from: file, or catalogue entry with its source
  std::string model_type;  ///< config.json's, or the one inferred for files without it
  std::string class_name;  ///< `architectures[0]`; empty if the file names none
  std::string family;      ///< the reader that was used
  bool tied_embeddings = false;
  std::int64_t vocabulary = 0;
  std::optional<std::int64_t> max_positions;
  std::optional<units::Precision> dtype;  ///< torch_dtype / dtype
  std::optional<Quantization> quantization;
  std::vector<Stack> stacks;  ///< the text stack that generates (or the only one) first
  std::optional<VisionInput> vision;
  std::vector<Excluded> excluded;
  std::vector<std::string> notes;  ///< what the reader assumed, one sentence each

  [[nodiscard]] const Stack& text() const noexcept { return stacks.front(); }
};

/// Parameters by component (DESIGN: counting rule 7).  `body` = total − embedding − untied head.
struct Census {
  units::Count total, active, body;
  std::array<units::Count, kComponentCount> by_component{};

  [[nodiscard]] units::Count operator[](Component c) const noexcept {
    return by_component[static_cast<std::size_t>(c)];
  }
};
/// `active`: all weights except experts, plus top_k / experts of the routed ones (vision included).
[[nodiscard]] Census census(const Architecture& architecture) noexcept;

}  // namespace flopwatt::model
