#include <gtest/gtest.h>

#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

// Qwen2.5-1.5B: hidden 1536, 28 layers, 12 heads of 128 over 2 kv heads, ffn 8960, 151936 words, tied.
// attention, a layer: q 1536·1536 + 1536, k and v 1536·256 + 256 each, o 1536·1536
//   = 2,360,832 + 2·393,472 + 2,359,296 = 5,507,072; 28 of them 154,198,016
// mlp: 28 · 3·1536·8960 = 1,156,055,040;  norms: (2·28 + 1)·1536 = 87,552;  embedding 151936·1536 = 233,373,696
TEST(Qwen2, CountsQwen25OneAndAHalfByComponent) {
  const Architecture model = Catalogue::builtin().find("Qwen/Qwen2.5-1.5B").value();
  const Census count = census(model);
  EXPECT_EQ(count[Component::attention], units::Count{154'198'016});
  EXPECT_EQ(count[Component::mlp], units::Count{1'156'055'040});
  EXPECT_EQ(count[Component::norm], units::Count{87'552});
  EXPECT_EQ(count[Component::embedding], units::Count{233'373'696});
  EXPECT_EQ(count[Component::lm_head], units::Count{0});
  EXPECT_EQ(count.body, units::Count{1'310'340'608});
  EXPECT_EQ(count.total, units::Count{1'543'714'304});
  EXPECT_EQ(count.active, count.total);
  EXPECT_TRUE(model.tied_embeddings);
}

TEST(Qwen2, StudyModels) {
  const Catalogue catalogue = Catalogue::builtin();
  const auto total = [&](std::string_view name) { return census(catalogue.find(name).value()).total; };
  EXPECT_EQ(total("Qwen/Qwen2.5-0.5B"), units::Count{494'032'768});
  EXPECT_EQ(total("Qwen/Qwen2.5-3B"), units::Count{3'085'938'688});
}

// With use_sliding_window the layers from max_window_layers on see a window; without it none does.
TEST(Qwen2, WindowsFollowTheirTwoKeys) {
  const auto read = [](std::string_view flag) {
    return read_config(R"({"model_type": "qwen2", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 5,
                           "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12,
                           "sliding_window": 16, "max_window_layers": 3, "use_sliding_window": )" +
                           std::string{flag} + "}",
                       "c")
        .value();
  };
  EXPECT_EQ(read("false").text().blocks.size(), 1U);
  const Architecture windowed = read("true");
  ASSERT_EQ(windowed.text().blocks.size(), 2U);
  EXPECT_EQ(windowed.text().layers, (std::vector<std::uint16_t>{0, 0, 0, 1, 1}));
  EXPECT_FALSE(windowed.text().blocks[0].attentions[0].window.has_value());
  EXPECT_EQ(windowed.text().blocks[1].attentions[0].window, 16);
}

}  // namespace
}  // namespace flopwatt::model
