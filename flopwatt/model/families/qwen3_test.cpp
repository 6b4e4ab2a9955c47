#include <gtest/gtest.h>

#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

// Heads of 6 though hidden / heads is 2.  Embedding and head 10·8 each = 160.  A layer: q and o 8·24 = 192 each, k and
// v 8·12 = 96 each, two head norms of 6, two norms of 8, mlp 3·8·12 = 288: 576 + 12 + 16 + 288 = 892.  Last norm 8. 160
// + 2·892 + 8 = 1,952.
TEST(Qwen3, CountsByHand) {
  const Architecture model =
      read_config(R"({"model_type": "qwen3", "vocab_size": 10, "hidden_size": 8, "num_hidden_layers": 2, "head_dim": 6,
                      "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 12})",
                  "c")
          .value();
  EXPECT_EQ(census(model).total, units::Count{1952});
  EXPECT_FALSE(model.tied_embeddings);
  EXPECT_EQ(model.text().blocks[0].attentions[0].head_dim, 6);
}

// Without head_dim the class default is 128, not hidden / heads: q and o 8·512, k and v 8·256, head norms of 128.
// A layer 2·4096 + 2·2048 + 256 + 16 + 288 = 12,848; 160 + 2·12848 + 8 = 25,864.
TEST(Qwen3, HeadDimDefaultsTo128) {
  const Architecture model = read_config(R"({"model_type": "qwen3", "vocab_size": 10, "hidden_size": 8,
                                             "num_hidden_layers": 2, "num_attention_heads": 4,
                                             "num_key_value_heads": 2, "intermediate_size": 12})",
                                         "c")
                                 .value();
  EXPECT_EQ(census(model).total, units::Count{25864});
}

}  // namespace
}  // namespace flopwatt::model
