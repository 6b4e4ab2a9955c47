#include "flopwatt/libtorch/decoder.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/model/checkpoint_names.hpp"

namespace flopwatt::libtorch {
namespace {

constexpr std::string_view kWhere = "config.json";
constexpr std::array<std::string_view, 4> kLlamaLike{"llama", "mistral", "qwen2", "qwen3"};

tl::unexpected<Error> not_built(std::string what) {
  return fail(Errc::unavailable, std::move(what), std::string{kWhere},
              "the training step is built for the GPT-2 and Llama (Mistral, Qwen2, Qwen3) families");
}

const model::Tensor* find(const std::vector<model::Tensor>& tensors, std::string_view ending) {
  const auto found = std::find_if(tensors.begin(), tensors.end(),
                                  [ending](const model::Tensor& tensor) { return tensor.name.ends_with(ending); });
  return found == tensors.end() ? nullptr : &*found;
}

Result<void> read_gpt2_config(Decoder& decoder, const io::JsonObject& config) {
  FLOPWATT_TRY(const auto epsilon, config.optional_number("layer_norm_epsilon", 0.0, 1.0));
  FLOPWATT_TRY(const auto embedding, config.optional_number("embd_pdrop", 0.0, 1.0));
  FLOPWATT_TRY(const auto attention, config.optional_number("attn_pdrop", 0.0, 1.0));
  FLOPWATT_TRY(const auto residual, config.optional_number("resid_pdrop", 0.0, 1.0));
  // Defaults of GPT2Config.
  decoder.norm_epsilon = epsilon.value_or(1e-5);
  decoder.embedding_dropout = embedding.value_or(0.1);
  decoder.attention_dropout = attention.value_or(0.1);
  decoder.residual_dropout = residual.value_or(0.1);
  return {};
}

Result<void> read_llama_config(Decoder& decoder, const io::JsonObject& config) {
  FLOPWATT_TRY(const auto epsilon, config.optional_number("rms_norm_eps", 0.0, 1.0));
  FLOPWATT_TRY(const auto theta, config.optional_number("rope_theta", 1.0));
  FLOPWATT_TRY(const auto dropout, config.optional_number("attention_dropout", 0.0, 1.0));
  // Defaults of LlamaConfig, Qwen2Config and Qwen3Config.
  decoder.norm_epsilon = epsilon.value_or(1e-6);
  decoder.rope_theta = theta.value_or(10'000.0);
  decoder.attention_dropout = dropout.value_or(0.0);
  return {};
}

/// Holds what is built here against the census, tensor by tensor.
Result<void> check_parameters(const model::Architecture& architecture, const Decoder& decoder) {
  FLOPWATT_TRY(const auto census, model::checkpoint_tensors(architecture));
  std::vector<Parameter> expected;
  for (const model::NamedTensor& named : census) {
    if (named.tensor->tied) continue;
    expected.push_back({named.name, {named.tensor->dims.begin(), named.tensor->dims.begin() + named.tensor->rank}});
  }
  std::vector<Parameter> built = parameters(decoder);
  const auto by_name = [](const Parameter& a, const Parameter& b) { return a.name < b.name; };
  std::sort(expected.begin(), expected.end(), by_name);
  std::sort(built.begin(), built.end(), by_name);
  const auto equal = [](const Parameter& a, const Parameter& b) { return a.name == b.name && a.dims == b.dims; };
  const auto [census_at, built_at] = std::mismatch(expected.begin(), expected.end(), built.begin(), built.end(), equal);
  if (census_at == expected.end() && built_at == built.end()) return {};
  return not_built("this variant of the family is not built: the tensor " +
                   (census_at == expected.end() ? built_at->name : census_at->name) + " is not the same");
}

}  // namespace

Result<Decoder> read_decoder(const model::Architecture& architecture, std::string_view config, std::int64_t sequence) {
  const bool gpt2 = architecture.family == "gpt2";
  if (!gpt2 && std::find(kLlamaLike.begin(), kLlamaLike.end(), architecture.family) == kLlamaLike.end()) {
    return not_built("the family " + architecture.family + " is not built");
  }
  const model::Stack& stack = architecture.text();
  if (architecture.stacks.size() != 1 || stack.blocks.empty() || stack.blocks.front().attentions.size() != 1) {
    return not_built("a model of several stacks is not built");
  }
  if (architecture.quantization) return not_built("a quantised model is not built");
  const model::Block& block = stack.blocks.front();
  const model::Attention& attention = block.attentions.front();
  for (const model::Block& each : stack.blocks) {
    for (const model::Attention& one : each.attentions) {
      if (one.window.value_or(sequence) < sequence || one.chunk.value_or(sequence) < sequence) {
        return not_built("attention within a window is not built for longer sequences than the window");
      }
    }
  }

  Decoder decoder;
  decoder.style = gpt2 ? Decoder::Style::gpt2 : Decoder::Style::llama;
  decoder.layers = static_cast<std::int64_t>(stack.layers.size());
  decoder.hidden = stack.hidden;
  decoder.heads = attention.query_heads;
  decoder.kv_heads = attention.kv_heads;
  decoder.head_dim = attention.head_dim;
  decoder.vocabulary = architecture.vocabulary;
  decoder.tied = architecture.tied_embeddings;
  decoder.activation = block.elementwise.activation;
  const model::Tensor* const up = find(block.tensors, gpt2 ? ".mlp.c_fc.weight" : ".mlp.up_proj.weight");
  if (up == nullptr || up->rank != 2) return not_built("this variant of the family is not built: it has no plain MLP");
  decoder.ffn = up->n;
  const model::Tensor* const table = find(stack.outside, ".wpe.weight");
  decoder.positions = table == nullptr ? 0 : table->dims[0];
  decoder.qkv_bias = find(block.tensors, ".q_proj.bias") != nullptr;
  decoder.out_bias = find(block.tensors, ".o_proj.bias") != nullptr;
  decoder.mlp_bias = find(block.tensors, ".up_proj.bias") != nullptr;
  decoder.query_key_norm = find(block.tensors, ".q_norm.weight") != nullptr;

  FLOPWATT_TRY(const io::Json document, io::parse_json(config, kWhere, {.nonfinite_numbers = true}));
  FLOPWATT_TRY(const io::JsonObject object, io::JsonObject::root(document, kWhere));
  if (gpt2) {
    FLOPWATT_TRY_VOID(read_gpt2_config(decoder, object));
  } else {
    FLOPWATT_TRY_VOID(read_llama_config(decoder, object));
  }
  FLOPWATT_TRY_VOID(check_parameters(architecture, decoder));
  if (decoder.positions > 0 && sequence > decoder.positions) {
    return fail(Errc::infeasible,
                "the model has " + std::to_string(decoder.positions) + " positions, and the sequence " +
                    std::to_string(sequence) + " tokens",
                std::string{kWhere});
  }
  return decoder;
}

std::vector<Parameter> parameters(const Decoder& decoder) {
  std::vector<Parameter> list;
  const auto add = [&list](std::string name, std::vector<std::int64_t> dims) {
    list.push_back({std::move(name), std::move(dims)});
  };
  const std::int64_t hidden = decoder.hidden;
  const std::int64_t queries = decoder.heads * decoder.head_dim;
  const std::int64_t keys = decoder.kv_heads * decoder.head_dim;
  if (decoder.style == Decoder::Style::gpt2) {
    // A "Conv1D" matrix is stored [in, out].
    const auto conv1d = [&add](const std::string& name, std::int64_t in, std::int64_t out) {
      add(name + ".weight", {in, out});
      add(name + ".bias", {out});
    };
    const auto layer_norm = [&](const std::string& name) {
      add(name + ".weight", {hidden});
      add(name + ".bias", {hidden});
    };
    add("transformer.wte.weight", {decoder.vocabulary, hidden});
    add("transformer.wpe.weight", {decoder.positions, hidden});
    for (std::int64_t i = 0; i < decoder.layers; ++i) {
      const std::string layer = "transformer.h." + std::to_string(i);
      layer_norm(layer + ".ln_1");
      conv1d(layer + ".attn.c_attn", hidden, queries + 2 * keys);
      conv1d(layer + ".attn.c_proj", queries, hidden);
      layer_norm(layer + ".ln_2");
      conv1d(layer + ".mlp.c_fc", hidden, decoder.ffn);
      conv1d(layer + ".mlp.c_proj", decoder.ffn, hidden);
    }
    layer_norm("transformer.ln_f");
  } else {
    const auto linear = [&add](const std::string& name, std::int64_t in, std::int64_t out, bool bias) {
      add(name + ".weight", {out, in});
      if (bias) add(name + ".bias", {out});
    };
    add("model.embed_tokens.weight", {decoder.vocabulary, hidden});
    for (std::int64_t i = 0; i < decoder.layers; ++i) {
      const std::string layer = "model.layers." + std::to_string(i);
      add(layer + ".input_layernorm.weight", {hidden});
      linear(layer + ".self_attn.q_proj", hidden, queries, decoder.qkv_bias);
      linear(layer + ".self_attn.k_proj", hidden, keys, decoder.qkv_bias);
      linear(layer + ".self_attn.v_proj", hidden, keys, decoder.qkv_bias);
      linear(layer + ".self_attn.o_proj", queries, hidden, decoder.out_bias);
      if (decoder.query_key_norm) {
        add(layer + ".self_attn.q_norm.weight", {decoder.head_dim});
        add(layer + ".self_attn.k_norm.weight", {decoder.head_dim});
      }
      add(layer + ".post_attention_layernorm.weight", {hidden});
      linear(layer + ".mlp.gate_proj", hidden, decoder.ffn, decoder.mlp_bias);
      linear(layer + ".mlp.up_proj", hidden, decoder.ffn, decoder.mlp_bias);
      linear(layer + ".mlp.down_proj", decoder.ffn, hidden, decoder.mlp_bias);
    }
    add("model.norm.weight", {hidden});
  }
  if (!decoder.tied) add("lm_head.weight", {decoder.vocabulary, hidden});
  return list;
}

}  // namespace flopwatt::libtorch
