#pragma once

#include <cstdint>

#include "flopwatt/model/architecture.hpp"

namespace flopwatt::model {

/// Names the multi-token prediction modules (DeepSeek-V3, arXiv 2412.19437, section 2.2) that a checkpoint holds behind
/// the `count` layers of its model, each as one more layer: a layer like the last one, two norms, a product of
/// [2·hidden, hidden] and a norm in front of the head; and the copies of embedding and head that some files store with
/// them.  Call it on a finished text stack.
void exclude_prediction_layers(Architecture& model, std::int64_t count);

/// The same for files that keep the module under a prefix of its own ("mtp."): layers like block `block` of the text
/// stack.
void exclude_prediction_module(Architecture& model, std::size_t block, std::int64_t layers);

}  // namespace flopwatt::model
