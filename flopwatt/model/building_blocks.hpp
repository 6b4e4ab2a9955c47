#pragma once

/// Everything that a family describes its layers with.

#include "flopwatt/model/activation.hpp"        // IWYU pragma: export
#include "flopwatt/model/decoder_sizes.hpp"     // IWYU pragma: export
#include "flopwatt/model/feed_forward.hpp"      // IWYU pragma: export
#include "flopwatt/model/latent_attention.hpp"  // IWYU pragma: export
#include "flopwatt/model/layer_pattern.hpp"     // IWYU pragma: export
#include "flopwatt/model/routed_experts.hpp"    // IWYU pragma: export
#include "flopwatt/model/self_attention.hpp"    // IWYU pragma: export
#include "flopwatt/model/stack_builder.hpp"     // IWYU pragma: export
#include "flopwatt/model/stored_buffers.hpp"    // IWYU pragma: export
