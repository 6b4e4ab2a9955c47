#include "flopwatt/work/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "flopwatt/work/adapters.hpp"
#include "flopwatt/work/encoder.hpp"
#include "flopwatt/work/quantized_weights.hpp"

namespace flopwatt::work {
namespace {

using model::Component;
using model::StackRole;
using model::Tensor;
using model::Use;

tl::unexpected<Error> out_of_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high) {
  return fail(Errc::usage, fmt::format("{} is out of range", value), std::string{option},
              fmt::format("give a whole number from {} to {}", low, high));
}

Result<void> check_range(std::string_view option, std::int64_t value, std::int64_t low, std::int64_t high) {
  if (value < low || value > high) return out_of_range(option, value, low, high);
  return {};
}

tl::unexpected<Error> indivisible(std::string_view option, std::int64_t degree, std::string_view what,
                                  std::int64_t size) {
  // The next ones on both sides; not searched for long, for a plan is tried many times over (nearest_plan.cpp).
  constexpr std::int64_t kReach = 1024;
  std::int64_t below = std::min(degree, size), above = degree;
  for (std::int64_t n = 0; n < kReach && size % below != 0; ++n) --below;
  for (std::int64_t n = 0; n < kReach && above < size && size % above != 0; ++n) ++above;
  std::string such_as;
  if (size % below == 0) such_as = fmt::format(", such as {}", below);
  if (above <= size && size % above == 0) such_as += fmt::format("{} {}", such_as.empty() ? ", such as" : " or", above);
  return fail(Errc::infeasible, fmt::format("{} does not divide {} {}", degree, size, what), std::string{option},
              fmt::format("choose a divisor of {}{}", size, such_as));
}

bool is_row_parallel(const Tensor& tensor) noexcept {
  const std::size_t dot = tensor.label.rfind('.');
  const std::string_view part = dot == std::string_view::npos ? tensor.label : tensor.label.substr(dot + 1);
  return part == "out" || part == "down" || part == "o";
}

bool is_vocabulary(const Tensor& tensor, const model::Architecture& architecture) noexcept {
  return tensor.component == Component::lm_head ||
         (tensor.use == Use::lookup && tensor.component == Component::embedding &&
          tensor.dims[0] == architecture.vocabulary);
}

// Low-rank projections in front of multi-head latent attention, index projections and routers stand whole on every
// tensor-parallel device.
bool is_replicated(const Tensor& tensor, const model::Block* block) noexcept {
  if (!block || tensor.component == Component::router || tensor.n == 1) return true;
  if (tensor.label.find("index") != std::string_view::npos) return true;
  for (const model::Attention& attention : block->attentions) {
    if (!attention.latent || tensor.component != Component::attention) continue;
    const model::LatentAttention& latent = *attention.latent;
    if (tensor.n == latent.kv_rank + latent.rope_dim || tensor.n == latent.kv_rank || tensor.n == latent.rope_dim ||
        (latent.query_rank && tensor.n == *latent.query_rank)) {
      return true;
    }
  }
  return false;
}

std::int64_t count_between(const model::Stack& stack, std::size_t block, std::int64_t begin,
                           std::int64_t end) noexcept {
  if (begin <= 0 && end >= std::ssize(stack.layers)) return stack.block_counts[block];
  if (begin >= end) return 0;
  if (stack.blocks.size() == 1) return end - begin;
  return std::count(stack.layers.begin() + begin, stack.layers.begin() + end, static_cast<std::uint16_t>(block));
}

std::int64_t first_trained_layer(const model::Architecture& architecture, const Trainable& trainable) {
  const model::Stack& text = architecture.text();
  const std::int64_t none = std::ssize(text.layers);
  switch (trainable.kind) {
    case Trainable::Kind::all:
      return 0;
    case Trainable::Kind::none:
      return none;
    // Training a tied head trains the embedding, which lies before every layer.
    case Trainable::Kind::head:
      return architecture.tied_embeddings ? 0 : none;
    case Trainable::Kind::lora:
      break;
  }
  for (std::int64_t layer = 0; layer < none; ++layer) {
    const model::Block& block = text.blocks[text.layers[static_cast<std::size_t>(layer)]];
    if (std::ranges::any_of(block.tensors, [&](const Tensor& t) { return adapted(trainable, t); })) return layer;
  }
  return none;
}

Result<void> check_sizes(const Workload& w) {
  if (w.sequence_lengths.empty()) {
    FLOPWATT_TRY_VOID(check_range("--batch", w.batch, 1, kMaxBatch));
    FLOPWATT_TRY_VOID(check_range("--seq", w.sequence, 1, kMaxSequence));
  } else {
    for (const std::int64_t length : w.sequence_lengths) {
      FLOPWATT_TRY_VOID(check_range("--seq-lengths", length, 1, kMaxSequence));
    }
  }
  if (w.phase == Phase::generate) {
    FLOPWATT_TRY_VOID(check_range("--new-tokens", w.new_tokens, 1, kMaxSequence));
  }
  FLOPWATT_TRY_VOID(check_range("--encoder-seq", w.encoder_sequence, 0, kMaxSequence));
  FLOPWATT_TRY_VOID(check_range("--images", w.images, 0, kMaxSequence));
  FLOPWATT_TRY_VOID(check_range("--image-width", w.image_width.value_or(1), 1, 1 << 20));
  FLOPWATT_TRY_VOID(check_range("--image-height", w.image_height.value_or(1), 1, 1 << 20));
  const Integer tokens = sum_over_sequences(w, 0, [&](std::int64_t length) { return Integer{length} + w.new_tokens; });
  if (tokens > kMaxTokens) {
    return fail(Errc::usage, "batch times sequence is out of range", "--batch",
                fmt::format("count at most {} tokens at once", kMaxTokens));
  }
  if (!std::isfinite(w.capacity_factor) || w.capacity_factor < 0 || w.capacity_factor > 1e6) {
    return fail(Errc::usage, "the capacity factor is out of range", "--capacity-factor", "give a number from 0 to 1e6");
  }
  return {};
}

// Checks sizes, so that counting may multiply without asking: elements of a tensor and of a product stay below 2^62.
// Adds up k·n.
bool fit(std::span<const Tensor> tensors, double& products) noexcept {
  constexpr double kMost = 0x1p62;
  double largest = 0;
  bool sane = true;
  for (const Tensor& tensor : tensors) {
    double elements = static_cast<double>(tensor.copies);
    std::int64_t signs = tensor.k | tensor.n | (tensor.copies - 1) | (tensor.rows_divisor - 1);
    for (std::uint8_t axis = 0; axis < tensor.rank; ++axis) {
      elements *= static_cast<double>(tensor.dims[axis]);
      signs |= tensor.dims[axis];
    }
    const double product =
        static_cast<double>(tensor.k) * static_cast<double>(tensor.n) * static_cast<double>(tensor.copies);
    largest = std::max(largest, std::max(elements, product));
    products += product;
    sane = sane && signs >= 0;
  }
  return sane && largest < kMost;
}

Result<void> check_architecture(const model::Architecture& architecture, double& products) {
  const auto bad = [&](std::string_view what) {
    return fail(Errc::bad_data, fmt::format("the architecture has {}", what), architecture.source);
  };
  if (architecture.stacks.empty()) return bad("no layers");
  for (const model::Stack& stack : architecture.stacks) {
    if (stack.block_counts.size() != stack.blocks.size()) return bad("blocks that are not counted");
    if (!fit(stack.outside, products)) return bad("a tensor of impossible size");
    for (std::size_t i = 0; i < stack.blocks.size(); ++i) {
      const model::Block& block = stack.blocks[i];
      double of_block = 0;
      if (!fit(block.tensors, of_block)) return bad("a tensor of impossible size");
      products += of_block * static_cast<double>(stack.block_counts[i]);
      for (const model::Attention& a : block.attentions) {
        if ((a.window && *a.window < 1) || (a.chunk && *a.chunk < 1) || (a.sparse && a.sparse->top_k < 1)) {
          return bad("an attention that reaches no key");
        }
        if (a.query_heads < 1 || a.kv_heads < 1 || a.head_dim < 0 || a.value_head_dim < 0) {
          return bad("an attention without heads");
        }
      }
      if (!block.routing) continue;
      if (block.routing->experts < 1 || block.routing->top_k < 1) return bad("a router without experts");
      products += of_block * static_cast<double>(stack.block_counts[i]) * static_cast<double>(block.routing->top_k);
    }
  }
  return {};
}

void choose_precisions(Plan& plan) {
  using units::Precision;
  const Workload& w = *plan.workload;
  const bool narrow = units::bits(w.precision) < 16;
  plan.other_precision = narrow ? Precision::bfloat16 : w.precision;
  plan.linear_precision = w.linear_precision.value_or(w.precision);
  plan.activation_bits = units::bits(plan.other_precision);
  plan.gradient_bits = units::bits(w.gradient_precision.value_or(plan.other_precision));
  plan.kv_bits = units::bits(w.kv_precision.value_or(w.precision));
  plan.weight_bits = units::bits(w.weight_precision.value_or(w.precision));
  const bool frozen = w.phase != Phase::train || w.trainable.kind != Trainable::Kind::all;
  if (frozen && !w.weight_precision && plan.architecture->quantization) {
    plan.quantization = &*plan.architecture->quantization;
  }
}

Result<void> split(Plan& plan) {
  const Workload& w = *plan.workload;
  const Parallel& p = w.parallel;
  constexpr std::int64_t kMost = 1 << 24;
  FLOPWATT_TRY_VOID(check_range("--tp", p.tensor, 1, kMost));
  FLOPWATT_TRY_VOID(check_range("--pp", p.pipeline, 1, kMost));
  FLOPWATT_TRY_VOID(check_range("--dp", p.data, 1, kMost));
  FLOPWATT_TRY_VOID(check_range("--cp", p.context, 1, kMost));
  FLOPWATT_TRY_VOID(check_range("--ep", p.expert, 1, kMost));
  FLOPWATT_TRY_VOID(check_range("--zero", p.zero, 0, 3));
  FLOPWATT_TRY_VOID(check_range("--stage", p.stage, 0, p.pipeline - 1));
  FLOPWATT_TRY_VOID(check_range("--in-flight", p.in_flight, 1, kMost));
  plan.tensor_parallel = p.tensor;
  plan.pipeline = p.pipeline;
  plan.replicas = p.data * p.context;
  plan.experts_over = p.expert;

  const std::int64_t sequences =
      w.sequence_lengths.empty() ? w.batch : static_cast<std::int64_t>(w.sequence_lengths.size());
  if (sequences % p.data != 0) return indivisible("--dp", p.data, "sequences", sequences);
  if (p.context > 1 && w.phase != Phase::decode) {
    if (w.sequence_lengths.empty() && w.sequence % p.context != 0) {
      return indivisible("--cp", p.context, "tokens of a sequence", w.sequence);
    }
    for (const std::int64_t length : w.sequence_lengths) {
      if (length % p.context != 0) return indivisible("--cp", p.context, "tokens of a sequence", length);
    }
  }

  const model::Stack& text = plan.architecture->text();
  const std::int64_t layers = std::ssize(text.layers);
  plan.first_stage = p.stage == 0;
  plan.last_stage = p.stage == p.pipeline - 1;
  if (p.stage_layers.empty()) {
    if (layers % p.pipeline != 0) return indivisible("--pp", p.pipeline, "layers", layers);
    plan.stage_begin = layers / p.pipeline * p.stage;
    plan.stage_end = plan.stage_begin + layers / p.pipeline;
  } else {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < p.stage_layers.size(); ++i) {
      if (p.stage_layers[i] < 0) return out_of_range("--stage-layers", p.stage_layers[i], 0, layers);
      if (static_cast<std::int64_t>(i) == p.stage) plan.stage_begin = sum;
      sum += std::min(p.stage_layers[i], layers + 1);
      if (static_cast<std::int64_t>(i) == p.stage) plan.stage_end = sum;
    }
    if (std::ssize(p.stage_layers) != p.pipeline || sum != layers) {
      return fail(Errc::infeasible,
                  fmt::format("the stages do not add up to {} layers in {} stages", layers, p.pipeline),
                  "--stage-layers", fmt::format("give {} numbers that add up to {}", p.pipeline, layers));
    }
  }

  plan.expert_tensor = p.tensor;
  if (p.expert > 1) {
    if (std::ranges::none_of(text.blocks, [](const model::Block& block) { return block.routing.has_value(); })) {
      return fail(Errc::infeasible, "the model has no experts to spread", "--ep", "leave it out");
    }
    // The experts' devices are taken from data · context (Megatron-LM), or else from the tensor-parallel ones too, and
    // then an expert stands whole on its device (vLLM).
    if (plan.replicas % p.expert != 0) {
      if (plan.replicas * p.tensor % p.expert != 0) {
        return indivisible("--ep", p.expert, "devices of a pipeline stage", plan.replicas * p.tensor);
      }
      plan.expert_tensor = 1;
    }
    for (const model::Block& block : text.blocks) {
      if (!block.routing) continue;
      if (block.routing->experts % p.expert != 0) {
        return indivisible("--ep", p.expert, "experts", block.routing->experts);
      }
    }
  }

  for (const model::Stack& stack : plan.architecture->stacks) {
    if (p.tensor == 1) break;
    if (stack.role == StackRole::vision && plan.workload->images == 0) continue;  // it does not run
    for (const model::Block& block : stack.blocks) {
      for (const model::Attention& a : block.attentions) {
        if (a.query_heads % p.tensor != 0) return indivisible("--tp", p.tensor, "query heads", a.query_heads);
        if (!a.latent && a.kv_heads % p.tensor != 0 && p.tensor % a.kv_heads != 0) {
          return indivisible("--tp", p.tensor, "key-value heads", a.kv_heads);
        }
      }
      if (block.recurrence && block.recurrence->heads > 1 && block.recurrence->heads % p.tensor != 0) {
        return indivisible("--tp", p.tensor, "heads of a recurrence", block.recurrence->heads);
      }
    }
  }
  return {};
}

Result<void> add_vision(Plan& plan, const model::Stack& stack) {
  const Workload& w = *plan.workload;
  if (w.images == 0) return {};
  if (!plan.architecture->vision) {
    return fail(Errc::usage, "the config does not say how an image becomes tokens", "--images");
  }
  const model::VisionInput& vision = *plan.architecture->vision;
  const auto side = [&](std::optional<std::int64_t> given) { return given ? given : vision.image; };
  const std::optional<std::int64_t> width = side(w.image_width);
  const std::optional<std::int64_t> height = side(w.image_height);
  if (!width || !height) {
    return fail(Errc::usage, "the model takes images of any size", "--image-width",
                "give --image-width and --image-height");
  }
  if (vision.patch < 1) return fail(Errc::bad_data, "the vision part has no patch size", plan.architecture->source);
  const std::int64_t patches = (*width / vision.patch) * (*height / vision.patch);
  if (patches < 1) return fail(Errc::usage, "the image is smaller than one patch", "--image-width");
  plan.image_tokens = patches + vision.extra_tokens;
  // What the language model sees of an image stands among the tokens of its sequence.
  const std::int64_t of_one = patches / std::max<std::int64_t>(1, vision.merge * vision.merge);
  const Integer seen = Integer{w.images} * of_one;
  const std::int64_t shortest = w.sequence_lengths.empty() ? w.sequence : *std::ranges::min_element(w.sequence_lengths);
  if (seen > shortest) {
    return fail(Errc::usage,
                fmt::format("{} of {} tokens do not fit into a sequence of {}",
                            w.images == 1 ? "one image" : fmt::format("{} images", w.images), of_one, shortest),
                "--images", "give a longer --seq, which counts the tokens of the images");
  }
  const Integer images = sum_over_sequences(w, 0, [&](std::int64_t) { return Integer{w.images}; });
  Run& run = plan.runs[plan.run_count++];
  run = {.stack = &stack, .length = plan.image_tokens, .sequences = images};
  run.tokens = ceil_div(images * plan.image_tokens, plan.replicas);
  return {};
}

void add_run(Plan& plan, Run run) {
  const Workload& w = *plan.workload;
  const Integer sequences =
      w.sequence_lengths.empty() ? Integer{w.batch} : static_cast<Integer>(w.sequence_lengths.size());
  Integer tokens = 0;
  switch (run.kind) {
    case Run::Kind::whole:
      tokens = sum_over_sequences(w, run.length, [](std::int64_t length) { return Integer{length}; });
      break;
    case Run::Kind::steps:
      tokens = sequences * run.passes;
      break;
    case Run::Kind::regrow:
      tokens = sum_over_sequences(w, 0, [&](std::int64_t length) {
        const Integer steps = run.last - run.first + 1;
        return steps * length + (Integer{run.first} + run.last) * steps / 2;
      });
      break;
  }
  // A decode step is one token a sequence: context parallelism splits the cache, not the token.
  const Integer rows_over = run.kind == Run::Kind::steps ? Integer{w.parallel.data} : Integer{plan.replicas};
  run.sequences = sequences;
  run.token_repeats = run.kind == Run::Kind::steps ? w.parallel.context : 1;
  run.sequence_repeats = w.parallel.context;
  run.tokens = ceil_div(tokens, rows_over);
  run.logits_rows = plan.logits_all ? run.tokens : ceil_div(sequences * run.passes, w.parallel.data);
  if (run.kind != Run::Kind::steps && plan.encoder_length > 0 && plan.is_text(*run.stack)) {
    run.memory_tokens = ceil_div(sequences * plan.encoder_length, plan.replicas) * run.passes;
  }
  plan.runs[plan.run_count++] = run;
}

Result<void> lay_out(Plan& plan) {
  const model::Architecture& architecture = *plan.architecture;
  const Workload& w = *plan.workload;
  const model::Stack& text = architecture.text();
  const bool text_is_decoder = text.role == StackRole::decoder;
  const bool crosses = encoder_of(architecture) != nullptr;

  if (w.phase == Phase::encode && text_is_decoder && !crosses) {
    return fail(Errc::usage, "the model has no encoder", "--phase", "use prefill");
  }
  if (w.phase != Phase::encode && w.phase != Phase::train && !text_is_decoder) {
    return fail(Errc::usage, "the model is an encoder: it generates nothing", "--phase", "use encode or train");
  }

  const bool text_runs = w.phase != Phase::encode || !text_is_decoder;
  if (w.phase != Phase::decode && plan.first_stage) {
    for (const model::Stack& stack : architecture.stacks) {
      if (plan.is_text(stack)) continue;
      if (plan.run_count == plan.runs.size() - 2) break;
      if (stack.role == StackRole::vision && text_runs) FLOPWATT_TRY_VOID(add_vision(plan, stack));
      if (&stack == encoder_of(architecture)) {
        const std::int64_t length = w.phase == Phase::encode ? w.encoder_sequence : plan.encoder_length;
        add_run(plan, {.stack = &stack, .length = length});
      }
    }
  }
  if (!text_runs) return {};
  switch (w.phase) {
    case Phase::train:
    case Phase::prefill:
    case Phase::encode:
      add_run(plan, {.stack = &text});
      break;
    case Phase::decode:
      add_run(plan, {.stack = &text, .kind = Run::Kind::steps});
      break;
    case Phase::generate:
      if (w.kv_cache) {
        add_run(plan, {.stack = &text});
        if (w.new_tokens > 1) {
          add_run(plan, {.stack = &text,
                         .kind = Run::Kind::steps,
                         .first = 1,
                         .last = w.new_tokens - 1,
                         .passes = w.new_tokens - 1});
        }
      } else {
        add_run(
            plan,
            {.stack = &text, .kind = Run::Kind::regrow, .first = 0, .last = w.new_tokens - 1, .passes = w.new_tokens});
      }
      break;
  }
  return {};
}

}  // namespace

std::int64_t Plan::layers(const model::Stack& stack, std::size_t block) const noexcept {
  if (!is_text(stack)) return first_stage ? stack.block_counts[block] : 0;
  return count_between(stack, block, stage_begin, stage_end);
}

std::int64_t Plan::layers_from(const model::Stack& stack, std::size_t block, std::int64_t from) const noexcept {
  return count_between(stack, block, std::max(stage_begin, from), stage_end);
}

std::int64_t Plan::first_layers(const model::Stack& stack, std::size_t block, std::int64_t limit) const noexcept {
  if (!is_text(stack)) return count_between(stack, block, 0, std::min<std::int64_t>(limit, std::ssize(stack.layers)));
  return count_between(stack, block, stage_begin, std::min(stage_end, stage_begin + limit));
}

bool Plan::here(const model::Stack& stack, const Tensor& tensor) const noexcept {
  if (pipeline == 1) return true;
  if (!is_text(stack)) return first_stage;
  const bool top = tensor.component == Component::lm_head || tensor.component == Component::norm ||
                   tensor.rows == model::Rows::logits || tensor.rows == model::Rows::sequences;
  return top ? last_stage : first_stage;
}

Cut Plan::cut_by_tensor_parallelism(const Tensor& tensor, const model::Block* block) const noexcept {
  Cut result{.k = tensor.k, .n = tensor.n};
  const bool expert = tensor.component == Component::experts;
  const std::int64_t over = expert ? expert_tensor : tensor.k == 0 ? 1 : tensor_parallel;
  if (expert && tensor_parallel != expert_tensor) result.model_divisor = tensor_parallel;
  if (over == 1) return result;
  result.model_divisor = over;
  if (is_vocabulary(tensor, *architecture)) {
    result.n = ceil_div(tensor.n, over);
  } else if (is_row_parallel(tensor)) {
    result.k = ceil_div(tensor.k, over);
  } else if (is_replicated(tensor, block)) {
    result.sequence_split = workload->parallel.sequence;
  } else {
    result.n = ceil_div(tensor.n, over);
    // With more devices than key-value heads each of them keeps one head whole.
    if (tensor.component == Component::attention && !block->attentions.empty()) {
      const model::Attention& a = block->attentions.front();
      if (!a.latent && a.kv_heads < over) {
        const Integer key = a.head_dim;
        const Integer value = a.value_head_dim;
        if (tensor.label.ends_with(".k")) result.n = key;
        if (tensor.label.ends_with(".v")) result.n = value;
        if (tensor.label.ends_with(".qkv")) {
          result.n = ceil_div(tensor.n - a.kv_heads * (key + value), over) + key + value;
        }
      }
    }
  }
  return result;
}

Integer Plan::held_by_tensor_parallelism(const Tensor& tensor, const model::Block* block,
                                         Integer whole) const noexcept {
  if (tensor.use == Use::product) {
    const Cut c = cut(tensor, block);
    const Integer kn = Integer{tensor.k} * tensor.n;
    return c.k * c.n == kn || kn == 0 ? whole : whole / kn * (c.k * c.n);
  }
  if (is_vocabulary(tensor, *architecture) && tensor.rank == 2)
    return ceil_div(tensor.dims[0], tensor_parallel) * tensor.dims[1];
  if (tensor.use == Use::bias && !is_row_parallel(tensor) && block && tensor.component != Component::router) {
    return ceil_div(whole, tensor.component == Component::experts ? expert_tensor : tensor_parallel);
  }
  return whole;
}

Integer Plan::quantized_bytes(const Tensor& tensor, const model::Block* block, Integer elements) const {
  const Integer plain = to_bytes(elements, static_cast<std::uint64_t>(weight_bits));
  if (!block || tensor.use != Use::product || tensor.component == Component::router) return plain;
  for (const model::Stack& stack : architecture->stacks) {
    if (block < stack.blocks.data() || block >= stack.blocks.data() + stack.blocks.size()) continue;
    const auto index = static_cast<std::uint16_t>(block - stack.blocks.data());
    const Integer layers = stack.block_counts[index];
    const Integer kept = unquantized_layers(quantization->not_converted, tensor.name, stack.layers, index);
    const StoredBits bits = stored_bits(*quantization);
    const Integer quantized = layers == 0 ? 0 : elements * (layers - kept) / layers;
    return to_bytes(ceil_div(quantized * bits.bits, bits.per_weights), 1) +
           to_bytes(elements - quantized, static_cast<std::uint64_t>(weight_bits));
  }
  return plain;
}

Result<Plan> make_plan(const model::Architecture& architecture, const Workload& workload) {
  Plan plan;
  FLOPWATT_TRY_VOID(check_architecture(architecture, plan.products));
  FLOPWATT_TRY_VOID(check_sizes(workload));
  plan.architecture = &architecture;
  plan.workload = &workload;
  choose_precisions(plan);
  FLOPWATT_TRY_VOID(split(plan));

  const bool trains = workload.phase == Phase::train;
  plan.backward = trains && workload.trainable.kind != Trainable::Kind::none;
  plan.logits_all =
      workload.logits.value_or(trains || workload.phase == Phase::encode ? Logits::all : Logits::last) == Logits::all;
  if (workload.recompute_layers) {
    FLOPWATT_TRY_VOID(
        check_range("--recompute-layers", *workload.recompute_layers, 0, std::ssize(architecture.text().layers)));
    if (workload.recompute != Recompute::full) {
      return fail(Errc::usage, "only full recompute takes a number of layers", "--recompute-layers",
                  "add --recompute full");
    }
  }
  if (encoder_of(architecture)) {
    plan.encoder_length = workload.encoder_sequence;
    if (plan.encoder_length == 0) plan.encoder_length = encoder_positions(architecture).value_or(workload.sequence);
    if (plan.encoder_length == 0 && !workload.sequence_lengths.empty()) {
      return fail(Errc::usage, "packed sequences need the encoder's length", "--encoder-seq");
    }
  }
  if (plan.backward) {
    FLOPWATT_TRY_VOID(check_trainable(architecture, workload.trainable));
    plan.first_trained_layer = first_trained_layer(architecture, workload.trainable);
  }
  FLOPWATT_TRY_VOID(lay_out(plan));
  return plan;
}

}  // namespace flopwatt::work
