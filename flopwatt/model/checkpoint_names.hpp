#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"

/// The census by the names of a checkpoint, and how a checkpoint's own names lead to them.

namespace flopwatt::model {

/// One tensor of the census under its full name, layer and expert filled in.
struct NamedTensor {
  std::string name;
  const Tensor* tensor;  ///< of the architecture; its `copies` are named one by one
};

/// Every tensor of the model, tied ones included, in the order of the layers.  The architecture must outlive it.
/// Errc::bad_data if there are more than `limit`: no checkpoint is cut into that many pieces.
[[nodiscard]] Result<std::vector<NamedTensor>> checkpoint_tensors(const Architecture& architecture,
                                                                  std::size_t limit = 1'000'000);

/// The same name with every number between dots as "{}": "model.layers.{}.mlp.up_proj.weight".
[[nodiscard]] std::string without_indices(std::string_view name);

/// Files leave a prefix out or put another one before: "h.0.ln_1.weight" for "transformer.h.0.ln_1.weight".
struct PrefixRule {
  std::string listed, census;  ///< the file's prefix and the census' one; either may be empty
  std::uint64_t tensors = 0;   ///< that are found by it
};

/// Finds tensors of the census under the names of a file.
class NameFinder {
 public:
  /// Learns from the file's names which prefixes differ.  Both lists must outlive the finder.
  NameFinder(const std::vector<NamedTensor>& census, const std::vector<std::string_view>& listed);

  /// Index of the census tensor, by its own name or by a rule.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view listed) const;
  /// The name as it is and as each rule that fits it has it.
  [[nodiscard]] std::vector<std::string> spellings(std::string_view listed) const;
  /// The rule that leads from this name to the census tensor; null if none is needed.
  [[nodiscard]] const PrefixRule* rule_for(std::string_view listed) const;
  [[nodiscard]] const std::vector<PrefixRule>& rules() const noexcept { return rules_; }

 private:
  [[nodiscard]] std::optional<std::size_t> exact(std::string_view name) const;
  void learn(const std::vector<NamedTensor>& census, const std::vector<std::string_view>& listed);

  std::unordered_map<std::string_view, std::size_t> by_name_;
  std::vector<PrefixRule> rules_;
};

}  // namespace flopwatt::model
