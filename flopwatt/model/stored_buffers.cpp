#include "flopwatt/model/stored_buffers.hpp"

#include <fmt/format.h>

namespace flopwatt::model {

void exclude_rotary_buffers(Architecture& model, std::int64_t copies, std::int64_t rotary_dim) {
  model.excluded.push_back({.what = "rotary frequencies",
                            .parameters = units::Count{copies} * (rotary_dim / 2),
                            .why = "computed, not trained; old checkpoints store them",
                            .name_patterns = {"inv_freq"}});
}

void exclude_mask_buffers(Architecture& model, std::string_view attention, std::int64_t layers,
                          std::int64_t positions) {
  model.excluded.push_back(
      {.what = "causal masks",
       .parameters = units::Count{layers} * (units::Count{positions} * positions + 1),
       .why = "computed, not trained; old checkpoints store them",
       .name_patterns = {fmt::format(".{}.bias", attention), fmt::format(".{}.masked_bias", attention)}});
}

}  // namespace flopwatt::model
