#include <benchmark/benchmark.h>

#include <string>

#include "flopwatt/base/check.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/model/read_config.hpp"

/// How long it takes to know a model.
namespace flopwatt::model {
namespace {

/// A config.json as large as the real ones: every key that transformers writes for a Llama 3.1.
constexpr std::string_view kLlama = R"({
  "architectures": ["LlamaForCausalLM"], "attention_bias": false, "attention_dropout": 0.0, "bos_token_id": 128000,
  "eos_token_id": [128001, 128008, 128009], "hidden_act": "silu", "hidden_size": 16384, "initializer_range": 0.02,
  "intermediate_size": 53248, "max_position_embeddings": 131072, "mlp_bias": false, "model_type": "llama",
  "num_attention_heads": 128, "num_hidden_layers": 126, "num_key_value_heads": 8, "pretraining_tp": 1,
  "rms_norm_eps": 1e-05, "rope_scaling": {"factor": 8.0, "high_freq_factor": 4.0, "low_freq_factor": 1.0,
  "original_max_position_embeddings": 8192, "rope_type": "llama3"}, "rope_theta": 500000.0,
  "tie_word_embeddings": false, "torch_dtype": "bfloat16", "transformers_version": "4.42.3", "use_cache": true,
  "vocab_size": 128256
})";

void read_llama(benchmark::State& state) {
  for (auto _ : state) {
    Result<Architecture> model = read_config(kLlama, "config.json");
    FLOPWATT_CHECK(model.has_value());
    benchmark::DoNotOptimize(model);
  }
}
BENCHMARK(read_llama);

void census_of_llama(benchmark::State& state) {
  const Architecture model = read_config(kLlama, "config.json").value();
  for (auto _ : state) benchmark::DoNotOptimize(census(model));
}
BENCHMARK(census_of_llama);

void open_builtin_catalogue(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(Catalogue::builtin());
}
BENCHMARK(open_builtin_catalogue);

void find_by_suffix(benchmark::State& state) {
  const Catalogue catalogue = Catalogue::builtin();
  for (auto _ : state) benchmark::DoNotOptimize(catalogue.find("Qwen2.5-3B"));
}
BENCHMARK(find_by_suffix);

}  // namespace
}  // namespace flopwatt::model
