#include <gtest/gtest.h>

#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

std::string mistral_with(std::string_view extra) {
  return R"({"model_type": "mistral", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 3,
             "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12)" +
         std::string{extra} + "}";
}

// As a Llama of these shapes: embedding and head 80 each; a layer 64 + 32 + 32 + 64 + 288 + 16 = 496; last norm 8:
// 160 + 3·496 + 8 = 1,656.
TEST(Mistral, CountsByHand) { EXPECT_EQ(census(read_config(mistral_with(""), "c").value()).total, units::Count{1656}); }

TEST(Mistral, TheWindowIsGivenOrSwitchedOffOrTheClassDefault) {
  const auto window = [](std::string_view extra) {
    return read_config(mistral_with(extra), "c").value().text().blocks[0].attentions[0].window;
  };
  EXPECT_EQ(window(R"(, "sliding_window": 16)"), 16);
  EXPECT_EQ(window(R"(, "sliding_window": null)"), std::nullopt);
  EXPECT_EQ(window(""), 4096);
}

}  // namespace
}  // namespace flopwatt::model
