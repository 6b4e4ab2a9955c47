// Checkpoints that store the same experts in other tensors than the census lists.
#include "flopwatt/model/expert_layout.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "flopwatt/model/checkpoint_test_files.hpp"
#include "flopwatt/model/families/small_config.hpp"
#include "flopwatt/model/verify.hpp"

namespace flopwatt::model {
namespace {

using testing::HasSubstr;
using units::Count;

// Two layers of hidden 8; 3 experts of width 12 in every layer: gate and up 12 · 8 = 96 elements each, down 8 · 12
// = 96.
constexpr std::string_view kExperts = R"(, "num_local_experts": 3, "num_experts": 3, "num_experts_per_tok": 2,
    "moe_intermediate_size": 12, "head_dim": 2, "torch_dtype": "bfloat16")";

Architecture small(std::string_view model_type, std::string_view extra = "") {
  return read_small(small_config(model_type, std::string{kExperts} + std::string{extra}));
}

/// Everything but the experts as the census has it, under `spelled` names; the experts as `write` has them.
HeaderWriter file_of(
    const Architecture& architecture, const std::function<void(HeaderWriter&, std::string)>& write,
    const std::function<std::string(std::string)>& spelled = [](std::string name) { return name; }) {
  HeaderWriter file;
  const std::vector<NamedTensor> census = checkpoint_tensors(architecture).value();
  for (const NamedTensor& named : census) {
    if (named.tensor->component == Component::experts || named.tensor->tied) continue;
    NamedTensor other = named;
    other.name = spelled(named.name);
    file.add(other, "BF16", 2);
  }
  for (const char* layer : {"model.layers.0.", "model.layers.1."}) write(file, layer);
  return file;
}

Verification verified(const Architecture& architecture, const HeaderWriter& file) {
  const Verification v = verify(architecture, list_checkpoint("made.safetensors", file.header())).value();
  EXPECT_EQ(v.unexplained_bytes(), Count{0}) << conclusion(v);
  Count elements = v.parameters;
  for (const Difference& difference : v.differences) elements += difference.elements;
  EXPECT_EQ(elements, v.stored_elements) << conclusion(v);
  return v;
}

std::vector<const Difference*> of(const Verification& v, DifferenceKind kind) {
  std::vector<const Difference*> found;
  for (const Difference& difference : v.differences) {
    if (difference.kind == kind) found.push_back(&difference);
  }
  return found;
}

std::string mlp_for_block_sparse_moe(std::string name) {
  constexpr std::string_view kOld = "block_sparse_moe";
  if (const std::size_t at = name.find(kOld); at != std::string::npos) name.replace(at, kOld.size(), "mlp");
  return name;
}

// The layout of Mixtral in newer releases of transformers: two tensors a layer, and another name for their module.
TEST(ExpertLayout, AllExpertsInOneTensorUnderAnotherModule) {
  const Architecture model = small("mixtral");
  const HeaderWriter file = file_of(
      model,
      [](HeaderWriter& out, const std::string& layer) {
        out.add(layer + "mlp.experts.gate_up_proj", "BF16", {3, 24, 8}, 3 * 24 * 8 * 2);
        out.add(layer + "mlp.experts.down_proj", "BF16", {3, 8, 12}, 3 * 96 * 2);
      },
      mlp_for_block_sparse_moe);
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(Count{*v.payload_bytes}, v.census_bytes);
  const auto layouts = of(v, DifferenceKind::layout);
  ASSERT_EQ(layouts.size(), 3U);  // gate and up; down; the router, whose module has another name
  EXPECT_EQ(layouts.size(), v.differences.size());
  EXPECT_EQ(layouts[0]->cause,
            "all experts of a layer stand in one tensor where the census has one each, gate and up together");
  EXPECT_EQ(layouts[0]->tensors, 2U);
  EXPECT_EQ(layouts[1]->cause, "all experts of a layer stand in one tensor where the census has one each");
  EXPECT_EQ(layouts[2]->cause, "the module of the experts is called 'mlp' where the census has 'block_sparse_moe'");
  for (const Difference* d : layouts) EXPECT_EQ(d->bytes, Count{0});
  EXPECT_THAT(conclusion(v), HasSubstr("agree to the byte"));
}

TEST(ExpertLayout, GateAndUpApartButExpertsTogether) {
  const Architecture model = small("qwen3_moe");  // as mlx writes it
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    out.add(layer + "mlp.switch_mlp.gate_proj.weight", "BF16", {3, 12, 8}, 3 * 96 * 2);
    out.add(layer + "mlp.switch_mlp.up_proj.weight", "BF16", {3, 12, 8}, 3 * 96 * 2);
    out.add(layer + "mlp.switch_mlp.down_proj.weight", "BF16", {3, 8, 12}, 3 * 96 * 2);
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_EQ(v.differences[0].kind, DifferenceKind::layout);
  EXPECT_EQ(v.differences[0].tensors, 6U);
}

// gpt-oss has its experts in one tensor with biases, [experts, in, out]; here each has its own.
TEST(ExpertLayout, ATensorForEachExpertWhereTheCensusHasOne) {
  const Architecture model = small("gpt_oss");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    for (const char* expert : {"0", "1", "2"}) {
      const std::string module = layer + "mlp.experts." + expert + ".";
      for (const char* half : {"gate_proj", "up_proj"}) {
        out.add(module + half + ".weight", "BF16", {12, 8}, 192);
        out.add(module + half + ".bias", "BF16", {12}, 24);
      }
      out.add(module + "down_proj.weight", "BF16", {8, 12}, 192);
      out.add(module + "down_proj.bias", "BF16", {8}, 16);
    }
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(Count{*v.payload_bytes}, v.census_bytes);
  ASSERT_EQ(of(v, DifferenceKind::layout).size(), 4U);
  EXPECT_EQ(of(v, DifferenceKind::layout)[0]->cause,
            "the experts have a tensor each where the census has all of a layer in one, gate and up apart");
  EXPECT_EQ(of(v, DifferenceKind::layout)[0]->tensors, 2U * 3 * 2);
}

TEST(ExpertLayout, GraniteInTheLayoutOfTheOthers) {
  const Architecture model = small("granitemoe");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    out.add(layer + "block_sparse_moe.experts.gate_up_proj", "BF16", {3, 24, 8}, 3 * 192 * 2);
    out.add(layer + "block_sparse_moe.experts.down_proj", "BF16", {3, 8, 12}, 3 * 96 * 2);
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_THAT(of(v, DifferenceKind::layout)[0]->cause, HasSubstr("under other names"));
}

TEST(ExpertLayout, AxesSwappedUnderTheSameName) {
  const Architecture model = small("gpt_oss");
  HeaderWriter file;
  const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
  for (const NamedTensor& named : census) {
    const Tensor& t = *named.tensor;
    if (named.name.ends_with("gate_up_proj")) {
      file.add(named.name, "BF16", {t.dims[0], t.dims[2], t.dims[1]}, 3 * 24 * 8 * 2);
    } else {
      file.add(named, "BF16", 2);
    }
  }
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  ASSERT_EQ(v.differences.size(), 1U);
  EXPECT_THAT(v.differences[0].cause, HasSubstr("the other way round"));
}

TEST(ExpertLayout, QuantisedExpertsAndTheirScales) {
  const Architecture model = small("mixtral", R"(, "quantization_config": {"quant_method": "fp8"})");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    const std::string module = layer + "block_sparse_moe.experts.";
    out.add(module + "gate_up_proj", "F8_E4M3", {3, 24, 8}, 3 * 192);
    out.add(module + "gate_up_proj_scale_inv", "F32", {3, 1, 1}, 12);
    out.add(module + "down_proj", "F8_E4M3", {3, 8, 12}, 3 * 96);
    out.add(module + "down_proj_scale_inv", "F32", {3, 1, 1}, 12);
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(of(v, DifferenceKind::stored_type)[0]->bytes, -Count{2 * 3 * (192 + 96)});
  EXPECT_EQ(of(v, DifferenceKind::scale)[0]->bytes, Count{2 * 2 * 12});
}

TEST(ExpertLayout, PackedExpertsOneEach) {
  const Architecture model =
      small("gpt_oss", R"(, "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 8})");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    for (const char* expert : {"0", "1", "2"}) {
      const std::string module = layer + "mlp.experts." + expert + ".";
      for (const char* part : {"gate_proj", "up_proj", "down_proj"}) {
        out.add(module + part + ".qweight", "I32", {12}, 48);  // 96 elements of 4 bits
        out.add(module + part + ".scales", "F16", {12}, 24);
        const std::int64_t outputs = part[0] == 'd' ? 8 : 12;
        out.add(module + part + ".bias", "BF16", {outputs}, static_cast<std::uint64_t>(outputs) * 2);
      }
    }
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(of(v, DifferenceKind::packed)[0]->bytes, Count{2 * 9} * (48 - 192));
  EXPECT_EQ(of(v, DifferenceKind::scale)[0]->tensors, 2U * 9);
}

TEST(ExpertLayout, AnotherShapeContradicts) {
  const Architecture model = small("qwen3_moe");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    out.add(layer + "mlp.experts.gate_up_proj", "BF16", {3, 24, 8}, 3 * 192 * 2);
    out.add(layer + "mlp.experts.down_proj", "BF16", {3, 8, 13}, 3 * 8 * 13 * 2);
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  ASSERT_EQ(of(v, DifferenceKind::shape).size(), 1U);
  EXPECT_EQ(of(v, DifferenceKind::shape)[0]->elements, Count{2 * 3 * 8});
  EXPECT_THAT(conclusion(v), HasSubstr("has the shape [3, 8, 13], which is not that of 3 experts with 12 inputs and 8 "
                                       "outputs"));
}

TEST(ExpertLayout, AMissingExpertIsMissing) {
  const Architecture model = small("gpt_oss");
  const HeaderWriter file = file_of(model, [](HeaderWriter& out, const std::string& layer) {
    for (const char* expert : {"0", "1", "2"}) {
      const std::string module = layer + "mlp.experts." + expert + ".";
      for (const char* half : {"gate_proj", "up_proj"}) {
        out.add(module + half + ".weight", "BF16", {12, 8}, 192);
        out.add(module + half + ".bias", "BF16", {12}, 24);
      }
      out.add(module + "down_proj.bias", "BF16", {8}, 16);
      if (expert[0] != '1') out.add(module + "down_proj.weight", "BF16", {8, 12}, 192);
    }
  });
  const Verification v = verified(model, file);
  EXPECT_EQ(v.verdict, Verdict::contradicts);
  EXPECT_EQ(of(v, DifferenceKind::missing)[0]->tensor, "model.layers.0.mlp.experts.down_proj");
  EXPECT_EQ(of(v, DifferenceKind::missing).size(), 1U);
}

TEST(ExpertLayout, NamesAloneAndAPrefix) {
  const Architecture model = small("qwen3_moe");
  std::string json = R"({"metadata":{},"weight_map":{)";
  const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
  for (const NamedTensor& named : census) {
    if (named.tensor->component != Component::experts) json += "\"language_model." + named.name + "\":\"a\",";
  }
  for (const std::string layer : {"0", "1"}) {
    for (const std::string part : {"gate_up_proj", "down_proj"}) {
      json += "\"language_model.model.layers." + layer + ".mlp.experts." + part + "\":\"a\",";
    }
  }
  json.back() = '}';
  const CheckpointIndex index = parse_checkpoint_index(json + "}", "index.json").value();
  const Verification v = verify(model, list_checkpoint("index.json", index, {})).value();
  EXPECT_EQ(v.verdict, Verdict::explained) << conclusion(v);
  EXPECT_EQ(of(v, DifferenceKind::layout).size(), 2U);
  EXPECT_EQ(of(v, DifferenceKind::prefix).size(), 1U);
}

TEST(ExpertLayout, TheCensusOwnLayoutIsNoDifference) {
  for (const char* type : {"mixtral", "qwen3_moe", "gpt_oss", "granitemoe"}) {
    const Architecture model = small(type);
    HeaderWriter file;
    const std::vector<NamedTensor> census = checkpoint_tensors(model).value();
    for (const NamedTensor& named : census) {
      if (!named.tensor->tied) file.add(named, "BF16", 2);
    }
    EXPECT_EQ(verified(model, file).verdict, Verdict::equal) << type;
  }
}

}  // namespace
}  // namespace flopwatt::model
