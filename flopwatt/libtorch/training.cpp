#include "flopwatt/libtorch/training.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/api/include/torch/optim/adamw.h>

#include <limits>
#include <string>
#include <utility>

#include "flopwatt/libtorch/causal_lm.hpp"
#include "flopwatt/libtorch/checkpoint_values.hpp"
#include "flopwatt/libtorch/device.hpp"
#include "flopwatt/libtorch/device_clock.hpp"
#include "flopwatt/libtorch/scalar_type.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::libtorch {
namespace {

using workload::Failed;
using workload::Job;

Failed failure(const Error& error) {
  const bool cannot = error.code == Errc::unavailable || error.code == Errc::infeasible;
  return {cannot ? Failed::Reason::unsupported : Failed::Reason::error, error.message()};
}

struct Plan {
  model::Architecture architecture;
  Decoder decoder;
  std::vector<StoredValues> values;  ///< empty: random
};

Result<Plan> plan(const Job& job) {
  Plan result;
  FLOPWATT_TRY(result.architecture, model::read_config(job.config, "config.json"));
  FLOPWATT_TRY(result.decoder, read_decoder(result.architecture, job.config, job.tensor_sequence()));
  if (job.weights) {
    FLOPWATT_TRY(result.values, find_values(result.architecture, *job.weights));
  }
  return result;
}

at::ScalarType stored_scalar_type(model::StoredType type) {
  return type == model::StoredType::F32 ? at::kFloat : type == model::StoredType::F16 ? at::kHalf : at::kBFloat16;
}

Result<void> load(const CausalLm& model, const std::vector<StoredValues>& values) {
  const at::NoGradGuard no_grad;
  for (const StoredValues& stored : values) {
    at::Tensor target = model.tensor(stored.name);
    at::Tensor read = at::empty(target.sizes(), at::TensorOptions{}.dtype(stored_scalar_type(stored.type)));
    FLOPWATT_TRY_VOID(read_values(stored, {static_cast<std::byte*>(read.data_ptr()), read.nbytes()}));
    target.copy_(read);
  }
  return {};
}

}  // namespace

struct Training::State {
  Job job;
  at::Device device;
  CausalLm model;
  torch::optim::AdamW optimizer;
  at::Tensor tokens, labels;  ///< [batch, sequence] and [batch · sequence]
  at::Tensor loss;
  DeviceClock clock;

  State(const Job& the_job, const Decoder& decoder)
      : job{the_job},
        device{torch_device(job.device)},
        model{decoder,
              {.dtype = scalar_type(job.dtype),
               .device = device,
               .attention = job.attention,
               .recompute = job.recompute,
               .max_sequence = job.tensor_sequence()}},
        optimizer{model.tensors(), torch::optim::AdamWOptions{job.learning_rate}.weight_decay(job.weight_decay)},
        clock{device} {
    // The label of a position is the token after it.
    const at::Tensor text = at::randint(decoder.vocabulary, {job.batch, job.tensor_sequence() + 1},
                                        at::TensorOptions{}.dtype(at::kLong).device(device));
    tokens = text.narrow(1, 0, job.tensor_sequence()).contiguous();
    labels = text.narrow(1, 1, job.tensor_sequence()).reshape({-1});
  }

  void run() {
    for (const at::Tensor& parameter : model.tensors()) parameter.mutable_grad().reset();
    for (std::int64_t i = 0; i < job.accumulation; ++i) {
      const at::Tensor logits = model.forward(tokens);
      loss = at::cross_entropy_loss(logits.view({-1, logits.size(2)}).to(at::kFloat), labels);
      (job.accumulation > 1 ? loss / static_cast<double>(job.accumulation) : loss).backward();
    }
    optimizer.step();
  }
};

Training::Training(std::unique_ptr<State> state) noexcept : state_{std::move(state)} {}
Training::Training(Training&&) noexcept = default;
Training& Training::operator=(Training&&) noexcept = default;
Training::~Training() = default;

Training::Outcome<Training> Training::make(const Job& job) {
  auto ready = prepare_device(job);
  if (!ready) return tl::unexpected<Failed>{ready.error()};
  auto planned = plan(job);
  if (!planned) return tl::unexpected<Failed>{failure(planned.error())};
  try {
    at::manual_seed(static_cast<std::uint64_t>(job.seed));
    auto state = std::make_unique<State>(job, planned->decoder);
    if (const auto loaded = load(state->model, planned->values); !loaded) {
      return tl::unexpected<Failed>{failure(loaded.error())};
    }
    synchronize(state->device);
    return Training{std::move(state)};
  } catch (...) {
    return tl::unexpected<Failed>{failure_of_current_exception()};
  }
}

Training::Outcome<double> Training::step() {
  try {
    state_->clock.start();
    state_->run();
    return state_->clock.stop();
  } catch (...) {
    return tl::unexpected<Failed>{failure_of_current_exception()};
  }
}

double Training::loss() const {
  return state_->loss.defined() ? state_->loss.item<double>() : std::numeric_limits<double>::quiet_NaN();
}

std::vector<Parameter> Training::parameters() const {
  std::vector<Parameter> list;
  const std::vector<Parameter>& names = state_->model.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    list.push_back({names[i].name, state_->model.tensors()[i].sizes().vec()});
  }
  return list;
}

std::int64_t Training::parameter_count() const {
  std::int64_t count = 0;
  for (const at::Tensor& tensor : state_->model.tensors()) count += tensor.numel();
  return count;
}

std::int64_t Training::tensor_batch() const { return state_->tokens.size(0); }
std::int64_t Training::tensor_sequence() const { return state_->tokens.size(1); }
std::int64_t Training::tokens_per_step() const { return state_->tokens.numel() * state_->job.accumulation; }

}  // namespace flopwatt::libtorch
