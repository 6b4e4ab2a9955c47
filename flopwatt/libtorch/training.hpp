#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/libtorch/decoder.hpp"
#include "flopwatt/workload/event.hpp"
#include "flopwatt/workload/job.hpp"

namespace flopwatt::libtorch {

/// The training step that a Job describes: forward over every micro-batch, cross-entropy in float32 over all positions,
/// backward, AdamW.  Everything the model holds (weights, gradients, optimizer states, activations) is in the job's
/// dtype, as a model that was loaded in it is trained.  Tokens are random and stay the same.
///
/// What LibTorch throws ends here: every failure is a workload::Failed, which says whether memory ran out or the
/// device cannot do it.
class Training {
 public:
  template <class T>
  using Outcome = tl::expected<T, workload::Failed>;

  /// Builds model and optimizer on the device.
  [[nodiscard]] static Outcome<Training> make(const workload::Job& job);

  Training(Training&&) noexcept;
  Training& operator=(Training&&) noexcept;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;
  ~Training();

  /// One optimizer step; its time on the device in seconds.  Returns when the device is done.
  [[nodiscard]] Outcome<double> step();
  /// The loss of the last step; NaN before the first, and wherever the numbers overflow (float16 without scaling).
  [[nodiscard]] double loss() const;
  /// As libtorch::parameters lists them, with the shapes that the tensors have.
  [[nodiscard]] std::vector<Parameter> parameters() const;
  /// Elements of all parameters.
  [[nodiscard]] std::int64_t parameter_count() const;
  [[nodiscard]] std::int64_t tokens_per_step() const;
  [[nodiscard]] std::int64_t tensor_batch() const;
  [[nodiscard]] std::int64_t tensor_sequence() const;

 private:
  struct State;
  explicit Training(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace flopwatt::libtorch
