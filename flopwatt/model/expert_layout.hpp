#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/model/checkpoint_listing.hpp"
#include "flopwatt/model/checkpoint_names.hpp"
#include "flopwatt/units/count.hpp"

/// The same experts are stored in several ways: a tensor for each, or one for all of a layer; gate and up apart or in
/// one; under the module's name of one release of a library or of another.  The parameters are the same.

namespace flopwatt::model {

/// One stored tensor of a layer's experts.
struct ExpertPart {
  std::size_t listed = 0;    ///< index into the listing
  units::Count elements;     ///< that it must hold
  std::string_view packing;  ///< what packs its elements into integers ("packed weights of GPTQ or AWQ"); empty: none
};

/// What stands for some tensors of the census: all gates and ups of a layer, or all downs, or their biases.
struct ExpertUnit {
  std::vector<std::size_t> census;    ///< indices of the tensors that it stands for
  std::vector<ExpertPart> parts;      ///< that hold them, complete
  std::string cause;                  ///< how the file's layout differs from the census'
  std::optional<std::string> misfit;  ///< the first part whose shape is not that of these experts, in words
};

class ExpertLayouts {
 public:
  /// Finds what the file stores in another layout.  Names that `finder` leads to the census are left alone.
  ExpertLayouts(const std::vector<NamedTensor>& census, const NameFinder& finder,
                const std::vector<ListedTensor>& listed);

  [[nodiscard]] const std::vector<ExpertUnit>& units() const noexcept { return units_; }
  /// Whether this is the name of a weight of the experts in the file's layout: what scales may belong to.
  [[nodiscard]] bool has_weight(std::string_view listed) const;
  /// The name that a tensor beside the experts (a router) has in the census, where the module is called otherwise.
  [[nodiscard]] std::optional<std::string> census_name(std::string_view listed) const;
  /// "the experts' module is called 'mlp' where the census has 'block_sparse_moe'"
  [[nodiscard]] std::string rename_cause(std::string_view listed) const;

 private:
  struct Layer {
    std::string module;         ///< "block_sparse_moe", as the census calls it
    std::string listed_module;  ///< as the file does; empty: alike
    bool stored_otherwise = false;
  };
  /// The layer that a name lies in, and its rest behind the layer's number.
  [[nodiscard]] const Layer* layer_of(std::string_view listed, std::string& scope, std::string& rest) const;

  const NameFinder& finder_;
  std::map<std::string, Layer, std::less<>> layers_;  ///< by the name up to the layer's number: "model.layers.3."
  std::vector<ExpertUnit> units_;
};

}  // namespace flopwatt::model
