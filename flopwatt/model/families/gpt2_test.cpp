#include <gtest/gtest.h>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

// h = 4, 2 layers, 5 words, 3 positions.  Embedding 5·4 + 3·4 = 32.  A layer: qkv 4·12 + 12 = 60, out 4·4 + 4 = 20, mlp
// 4·16 + 16 + 16·4 + 4 = 148, two norms 2·8 = 16: 244.  Last norm 8.  In all 32 + 488 + 8 = 528.
TEST(Gpt2, CountsByHand) {
  const Architecture model =
      read_config(R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "vocab_size": 5, "n_positions": 3,
                      "n_ctx": 2, "n_embd": 4, "n_layer": 2, "n_head": 2, "n_inner": null})",
                  "c")
          .value();
  const Census count = census(model);
  EXPECT_EQ(count.total, units::Count{528});
  EXPECT_EQ(count[Component::embedding], units::Count{32});
  EXPECT_EQ(count[Component::attention], units::Count{160});
  EXPECT_EQ(count[Component::mlp], units::Count{296});
  EXPECT_EQ(count[Component::norm], units::Count{40});
  EXPECT_EQ(count.body, units::Count{496});
  EXPECT_TRUE(model.tied_embeddings);
}

TEST(Gpt2, StoresItsMatricesInputFirst) {
  const Architecture model =
      read_config(
          R"({"model_type": "gpt2", "vocab_size": 5, "n_positions": 3, "n_embd": 4, "n_layer": 2, "n_head": 2})", "c")
          .value();
  const Tensor& qkv = model.text().blocks[0].tensors[2];
  EXPECT_EQ(qkv.name, "transformer.h.{layer}.attn.c_attn.weight");
  EXPECT_EQ(qkv.dims[0], 4);
  EXPECT_EQ(qkv.dims[1], 12);
  EXPECT_EQ(qkv.k, 4);
  EXPECT_EQ(qkv.n, 12);
}

// n_inner 6 instead of 16: 4·6 + 6 + 6·4 + 4 = 58 instead of 148, in each of two layers.
TEST(Gpt2, TakesAnInnerWidthThatIsGiven) {
  const Architecture model = read_config(R"({"model_type": "gpt2", "vocab_size": 5, "n_positions": 3, "n_embd": 4,
                                             "n_layer": 2, "n_head": 2, "n_inner": 6})",
                                         "c")
                                 .value();
  EXPECT_EQ(census(model).total, units::Count{528 - 180});
}

// The published sizes: Radford et al. 2019 and Zhang et al. 2020 (arXiv 1911.00536) by the checkpoints' own shapes.
TEST(Gpt2, StudyModels) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto total = [&](std::string_view name) { return census(catalogue.find(name).value()).total; };
  EXPECT_EQ(total("gpt2"), units::Count{124'439'808});
  EXPECT_EQ(total("gpt2-xl"), units::Count{1'557'611'200});
  EXPECT_EQ(total("microsoft/DialoGPT-medium"), units::Count{354'823'168});
  EXPECT_EQ(total("microsoft/DialoGPT-large"), units::Count{774'030'080});
}

}  // namespace
}  // namespace flopwatt::model
