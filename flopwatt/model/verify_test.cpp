#include "flopwatt/model/verify.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>

#include "flopwatt/model/checkpoint_test_files.hpp"
#include "flopwatt/model/families/small_config.hpp"

namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

/// Qwen2.5-1.5B's shape, by its published config.
constexpr std::string_view kQwen = R"({"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"],
  "vocab_size": 151936, "hidden_size": 1536, "num_hidden_layers": 28, "num_attention_heads": 12,
  "num_key_value_heads": 2, "intermediate_size": 8960, "max_position_embeddings": 32768,
  "tie_word_embeddings": true, "torch_dtype": "bfloat16"})";

/// How a test writes a census tensor into a file; nothing: as it is, in BF16.
using Write = std::function<bool(HeaderWriter&, const NamedTensor&)>;

HeaderWriter file_of(const Architecture& architecture, const Write& write = nullptr) {
  HeaderWriter file;
  const std::vector<NamedTensor> census = checkpoint_tensors(architecture).value();
  for (const NamedTensor& named : census) {
    if (write && write(file, named)) continue;
    if (!named.tensor->tied) file.add(named, "BF16", 2);
  }
  return file;
}

Verification verified(const Architecture& architecture, const HeaderWriter& file) {
  const Verification v = verify(architecture, list_checkpoint("made.safetensors", file.header())).value();
  // Whatever differs, every byte of the payload has its cause.
  EXPECT_EQ(v.unexplained_bytes(), Count{0}) << conclusion(v);
  Count elements = v.parameters;
  for (const Difference& difference : v.differences) elements += difference.elements;
  EXPECT_EQ(elements, v.stored_elements) << conclusion(v);
  return v;
}

const Difference* find(const Verification& v, DifferenceKind kind) {
  for (const Difference& difference : v.differences) {
    if (difference.kind == kind) return &difference;
  }
  return nullptr;
}

Architecture small_llama(std::string_view extra = "") {
  return read_small(small_config("llama", R"(, "torch_dtype": "bfloat16")" + std::string{extra}));
}

TEST(Verify, APayloadThatAgreesToTheByte) {
  const Architecture qwen = read_small(kQwen);
  // The order of the reference writer: by name within one type.
  std::vector<NamedTensor> census = checkpoint_tensors(qwen).value();
  std::sort(census.begin(), census.end(), [](auto& a, auto& b) { return a.name < b.name; });
  HeaderWriter file;
  file.metadata();
  for (const NamedTensor& named : census) {
    if (!named.tensor->tied) file.add(named, "BF16", 2);
  }
  // The file has 3,087,467,144 bytes, of which the header takes 38,536: 8 and a JSON of 38,528.
  const std::string first = file.bytes(38'528);
  ASSERT_EQ(first.size(), 38'536U);
  const auto header = parse_safetensors_header(first, 3'087'467'144, "model.safetensors");
  ASSERT_TRUE(header) << header.error().message();
  const Verification v = verify(qwen, list_checkpoint("model.safetensors", *header)).value();
  EXPECT_EQ(v.verdict, Verdict::equal);
  EXPECT_EQ(v.header_bytes, 38'536U);
  EXPECT_EQ(v.payload_bytes, 3'087'428'608U);
  EXPECT_EQ(v.census_bytes, Count{3'087'428'608});
  EXPECT_EQ(v.parameters, Count{1'543'714'304});
  EXPECT_EQ(v.tensors_equal, 338U);  // 28 layers of 12, the embedding and the last norm
  EXPECT_EQ(conclusion(v),
            "payload and census agree to the byte: 3,087,428,608 bytes in 338 tensors, behind 38,536 header bytes");
}

TEST(Verify, NamesAreThoseOfEveryLayerAndExpert) {
  EXPECT_EQ(without_indices("model.layers.12.mlp.experts.3.w1.weight"), "model.layers.{}.mlp.experts.{}.w1.weight");
  EXPECT_EQ(without_indices("h.0"), "h.{}");
  EXPECT_EQ(without_indices("a1.b..c."), "a1.b..c.");
  const Architecture model = small_llama();
  const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
  std::set<std::string> names;
  for (const NamedTensor& named : census) names.insert(named.name);
  EXPECT_EQ(names.size(), census.size());
  EXPECT_TRUE(names.contains("model.layers.1.self_attn.q_proj.weight"));
  EXPECT_FALSE(names.contains("model.layers.2.self_attn.q_proj.weight"));
  EXPECT_FALSE(checkpoint_tensors(model, 5));
}

TEST(Verify, ATiedHeadStoredTwice) {
  const Architecture model = small_llama(R"(, "tie_word_embeddings": true)");
  HeaderWriter file = file_of(model);
  file.add("lm_head.weight", "BF16", {10, 8}, 160);
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].kind, DifferenceKind::tied_copy);
  EXPECT_EQ(v.differences[0].elements, Count{80});
  EXPECT_EQ(v.differences[0].bytes, Count{160});
  EXPECT_THAT(conclusion(v), HasSubstr("160 bytes more than the census, every one explained"));
}

TEST(Verify, AnEmbeddingStoredUnderTheTiedHeadsName) {
  const Architecture model = small_llama(R"(, "tie_word_embeddings": true)");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (named.tensor->tied) out.add("lm_head.weight", "BF16", {10, 8}, 160);
    return named.name == "model.embed_tokens.weight";
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained);
  EXPECT_THAT(find(v, DifferenceKind::missing)->cause, HasSubstr("tied to it"));
}

TEST(Verify, BuffersThatOldFilesHold) {
  const Architecture model = read_small(small_gpt_config("gpt2", R"(, "torch_dtype": "float16")"));
  HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (!named.tensor->tied) out.add(named, "F16", 2);
    return true;
  });
  for (const char* layer : {"0", "1"}) {
    file.add("transformer.h." + std::string{layer} + ".attn.bias", "BOOL", {1, 1, 6, 6}, 36);
    file.add("transformer.h." + std::string{layer} + ".attn.masked_bias", "F32", {}, 4);
  }
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].kind, DifferenceKind::excluded);
  EXPECT_EQ(v.differences[0].tensors, 4U);
  EXPECT_EQ(v.differences[0].elements, Count{2 * 37});  // a mask of 6 × 6 and a scalar in each of 2 layers
  EXPECT_EQ(v.differences[0].bytes, Count{2 * 40});
  EXPECT_THAT(v.differences[0].cause, HasSubstr("causal masks"));
}

TEST(Verify, NamesWithoutTheirPrefix) {
  const Architecture model = read_small(small_gpt_config("gpt2", R"(, "torch_dtype": "bfloat16")"));
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    NamedTensor bare = named;
    if (bare.name.starts_with("transformer.")) bare.name.erase(0, 12);
    if (!named.tensor->tied) out.add(bare, "BF16", 2);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].kind, DifferenceKind::prefix);
  EXPECT_EQ(v.differences[0].cause, "the names lack the 'transformer.' of the census");
  EXPECT_EQ(v.differences[0].tensors, v.tensors_census);
  EXPECT_EQ(v.tensors_equal, v.tensors_census);
  EXPECT_THAT(conclusion(v), HasSubstr("agree to the byte"));
}

TEST(Verify, NamesBehindAnotherPrefixAndBuffersAmongThem) {
  const Architecture model = small_llama();
  HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    NamedTensor other = named;
    other.name = "language_model." + named.name;
    out.add(other, "BF16", 2);
    return true;
  });
  file.add("language_model.model.layers.0.self_attn.rotary_emb.inv_freq", "F32", {1}, 4);
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(find(v, DifferenceKind::prefix)->cause, "the names have 'language_model.' before those of the census");
  EXPECT_EQ(find(v, DifferenceKind::excluded)->bytes, Count{4});
}

TEST(Verify, AnotherNumberFormatThanTheConfigSays) {
  const Architecture model = small_llama();
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    out.add(named, "F32", 4);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].cause, "stored in F32 where the config says BF16");
  EXPECT_EQ(v.differences[0].bytes, v.parameters * 2);
  EXPECT_EQ(v.differences[0].elements, Count{0});

  // Without a dtype in the config the file's own type is the census'.
  const Architecture silent = read_small(small_config("llama"));
  const Verification w = verified(silent, file);
  EXPECT_EQ(w.verdict, Verdict::equal);
  EXPECT_TRUE(w.type_assumed);
  EXPECT_EQ(w.type, StoredType::F32);
}

TEST(Verify, Fp8WeightsAndTheirScales) {
  const Architecture model =
      small_llama(R"(, "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]})");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (named.name.find("proj") == std::string::npos) return false;
    out.add(named, "F8_E4M3", 1);
    out.add(named.name + "_scale_inv", "F32", {1, 1}, 4);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  // Two layers of seven projections; elements a layer: q, o 8·8; k, v 4·8; gate, up, down 12·8.
  const int projections = 2 * (2 * 64 + 2 * 32 + 3 * 96);
  EXPECT_EQ(find(v, DifferenceKind::stored_type)->bytes, Count{-projections});
  EXPECT_EQ(find(v, DifferenceKind::scale)->tensors, 14U);
  EXPECT_EQ(find(v, DifferenceKind::scale)->bytes, Count{14 * 4});
  EXPECT_EQ(find(v, DifferenceKind::scale)->elements, Count{14});
}

TEST(Verify, PackedFourBitWeights) {
  const Architecture model =
      small_llama(R"(, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 8})");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (named.name.find("mlp.up_proj") == std::string::npos) return false;
    const std::string module = named.name.substr(0, named.name.rfind('.'));
    out.add(module + ".qweight", "I32", {1, 12}, 48);  // 8 rows of 12 in one row of int32
    out.add(module + ".qzeros", "I32", {1, 2}, 8);
    out.add(module + ".scales", "F16", {1, 12}, 24);
    out.add(module + ".g_idx", "I32", {8}, 32);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  const Difference* packed = find(v, DifferenceKind::packed);
  ASSERT_TRUE(packed);
  EXPECT_EQ(packed->cause, "packed weights of GPTQ or AWQ, 4 bits each in I32");
  EXPECT_EQ(packed->tensors, 2U);
  EXPECT_EQ(packed->elements, Count{2 * (12 - 96)});
  EXPECT_EQ(packed->bytes, Count{2 * (48 - 192)});
}

TEST(Verify, WeightsPackedUnderTheirOwnName) {
  const Architecture model = small_llama();  // no quantization_config, as in some uploads
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (named.name.find("mlp.up_proj") == std::string::npos) return false;
    out.add(named.name, "U8", {48, 1}, 48);  // bitsandbytes: 96 elements of 4 bits
    out.add(named.name + ".absmax", "F32", {2}, 8);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(find(v, DifferenceKind::packed)->cause,
            "packed weights, 4 bits each in U8, although the config names no quantisation");
}

TEST(Verify, APredictionModuleBehindTheLastLayer) {
  const Architecture model = read_small(small_config("deepseek_v3", R"(, "n_routed_experts": 3,
      "num_experts_per_tok": 2, "moe_intermediate_size": 5, "first_k_dense_replace": 1, "n_shared_experts": 1,
      "kv_lora_rank": 4, "q_lora_rank": 6, "qk_nope_head_dim": 2, "qk_rope_head_dim": 2, "v_head_dim": 3,
      "num_nextn_predict_layers": 1, "torch_dtype": "bfloat16")"));
  HeaderWriter file = file_of(model);
  file.add("model.layers.2.eh_proj.weight", "F8_E4M3", {8, 16}, 128);
  file.add("model.layers.2.eh_proj.weight_scale_inv", "F32", {1, 1}, 4);
  file.add("model.layers.2.embed_tokens.weight", "BF16", {10, 8}, 160);
  file.add("model.layers.2.shared_head.head.weight", "BF16", {10, 8}, 160);
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  ASSERT_EQ(v.differences.size(), 2U);  // the module, and the copies of embedding and head in it
  EXPECT_EQ(v.differences[0].elements + v.differences[1].elements, Count{128 + 1 + 80 + 80});
  EXPECT_THAT(v.differences[0].cause, HasSubstr("multi-token prediction module"));
  EXPECT_EQ(v.tensors_equal, v.tensors_census);
}

TEST(Verify, ExpertsInBlocksOfFourBits) {
  const Architecture model = read_small(small_config("gpt_oss", R"(, "num_local_experts": 2, "num_experts_per_tok": 1,
      "head_dim": 2, "torch_dtype": "bfloat16", "quantization_config": {"quant_method": "mxfp4"})"));
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (!named.name.ends_with("mlp.experts.down_proj")) return false;
    // 2 experts of 12 · 8 elements: 192 of 4 bits are 96 bytes.
    out.add(named.name + "_blocks", "U8", {2, 8, 6}, 96);
    out.add(named.name + "_scales", "U8", {2, 8, 1}, 16);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(find(v, DifferenceKind::packed)->cause, "packed blocks of MXFP4, 4 bits each in U8");
  EXPECT_EQ(find(v, DifferenceKind::packed)->bytes, Count{2 * (96 - 384)});
  EXPECT_EQ(find(v, DifferenceKind::scale)->bytes, Count{2 * 16});
}

TEST(Verify, MissingUnexpectedAndMisshapenTensorsContradict) {
  const Architecture model = small_llama();
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const NamedTensor& named) {
    if (named.name == "model.layers.1.mlp.up_proj.weight") return true;  // left out
    if (named.name != "model.layers.0.mlp.up_proj.weight") return false;
    out.add(named.name, "BF16", {8, 12}, 192);  // transposed
    out.add("model.layers.0.mlp.extra.weight", "BF16", {3}, 6);
    return true;
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  ASSERT_EQ(v.differences.size(), 3U);
  EXPECT_EQ(find(v, DifferenceKind::missing)->tensor, "model.layers.1.mlp.up_proj.weight");
  EXPECT_EQ(find(v, DifferenceKind::missing)->bytes, Count{-192});
  EXPECT_EQ(find(v, DifferenceKind::unexpected)->tensor, "model.layers.0.mlp.extra.weight");
  EXPECT_EQ(find(v, DifferenceKind::shape)->cause,
            "has the shape [8, 12] in the file and [12, 8] in the census, the same number of elements");
  EXPECT_THAT(conclusion(v), HasSubstr("contradicts the census"));
}

TEST(Verify, AFileOfAnotherModelContradicts) {
  const Verification v = verified(small_llama(), file_of(read_small(small_gpt_config("gpt2"))));
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  EXPECT_EQ(v.tensors_equal, 0U);
}

TEST(Verify, AnUntiedHeadThatIsNotThere) {
  const Architecture model = small_llama();
  const HeaderWriter file =
      file_of(model, [](HeaderWriter&, const NamedTensor& named) { return named.name == "lm_head.weight"; });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  EXPECT_THAT(v.differences[0].cause, HasSubstr("no head"));
}

CheckpointIndex index_of(const Architecture& model, std::string_view metadata = "{}") {
  std::string json = R"({"metadata":)" + std::string{metadata} + R"(,"weight_map":{)";
  const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
  for (const NamedTensor& named : census) {
    if (named.tensor->tied) continue;
    const bool first = named.name.find("layers.0.") != std::string::npos;
    json += "\"" + named.name + (first ? "\":\"1.safetensors\"," : "\":\"2.safetensors\",");
  }
  json.back() = '}';
  return parse_checkpoint_index(json + "}", "index.json").value();
}

ShardHeader shard_of(const Architecture& model, bool first) {
  HeaderWriter file;
  const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
  for (const NamedTensor& named : census) {
    if (!named.tensor->tied && (named.name.find("layers.0.") != std::string::npos) == first) file.add(named, "BF16", 2);
  }
  return {first ? "1.safetensors" : "2.safetensors", file.header()};
}

TEST(Verify, ShardsTogetherAreTheModel) {
  const Architecture model = small_llama();
  const Verification v =
      verify(model, list_checkpoint("folder", index_of(model), {shard_of(model, true), shard_of(model, false)}))
          .value();
  EXPECT_EQ(v.verdict, Verdict::equal) << conclusion(v);
  EXPECT_EQ(Count{*v.payload_bytes}, v.census_bytes);
  EXPECT_EQ(*v.header_bytes, shard_of(model, true).header.header_bytes + shard_of(model, false).header.header_bytes);
}

TEST(Verify, AMissingShardIsNamed) {
  const Architecture model = small_llama();
  const Verification v = verify(model, list_checkpoint("folder", index_of(model), {shard_of(model, true)})).value();
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].kind, DifferenceKind::missing_file);
  EXPECT_EQ(v.differences[0].cause, "1 of the index's files is not there: 2.safetensors");
  EXPECT_EQ(v.unexplained_bytes(), Count{0});
}

TEST(Verify, AnIndexThatDisagreesWithItsShards) {
  const Architecture model = small_llama();
  ShardHeader second = shard_of(model, false);
  second.header.tensors.back().name = "stray";
  const Verification v =
      verify(model, list_checkpoint("folder", index_of(model), {shard_of(model, true), std::move(second)})).value();
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  EXPECT_EQ(find(v, DifferenceKind::index)->tensors, 2U);
  EXPECT_EQ(find(v, DifferenceKind::index)->cause, "2.safetensors holds 'stray', which the index does not list");
}

TEST(Verify, AnIndexAloneGivesNamesAndATotal) {
  const Architecture model = small_llama();
  const Count bytes = census(model).total * 2;
  const auto with_total = [&](Count total) {
    const CheckpointIndex index = index_of(model, R"({"total_size":)" + units::to_string(total) + "}");
    return verify(model, list_checkpoint("index.json", index, {})).value();
  };
  const Verification equal = with_total(bytes);
  EXPECT_EQ(equal.verdict, Verdict::equal) << conclusion(equal);
  EXPECT_FALSE(equal.payload_bytes);
  EXPECT_EQ(equal.tensors_by_name, equal.tensors_census);
  EXPECT_EQ(with_total(bytes * 2).verdict, Verdict::explained);  // a file of F32
  EXPECT_EQ(with_total(bytes + Count{2}).verdict, Verdict::contradicts);
  EXPECT_EQ(verify(model, list_checkpoint("index.json", index_of(model), {}))->verdict, Verdict::equal);
}

}  // namespace
}  // namespace flopwatt::model
