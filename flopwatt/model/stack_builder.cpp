#include "flopwatt/model/stack_builder.hpp"

#include "flopwatt/base/check.hpp"

namespace flopwatt::model {

StackBuilder::StackBuilder(Draft& draft, std::int64_t hidden, std::string_view body)
    : draft_{&draft}, prefix_{draft.body_prefix.value_or(std::string{body})} {
  // A headless class keeps its body at the top of the checkpoint.
  if (draft.head == Head::none && !draft.body_prefix) prefix_.erase(0, prefix_.find('.') + 1);
  stack_.role = StackRole::decoder;
  stack_.hidden = hidden;
  for (const std::string_view key : {"max_position_embeddings", "n_positions", "max_seq_len", "seq_length"}) {
    if (!draft.model.max_positions && draft.config.has(key)) draft.model.max_positions = draft.config.size(key);
  }
}

StackBuilder::StackBuilder(StackRole role, std::int64_t hidden, std::string prefix) : prefix_{std::move(prefix)} {
  stack_.role = role;
  stack_.hidden = hidden;
}

Layer StackBuilder::new_block(std::string_view name) {
  std::string prefix = prefix_;
  prefix.append(name).append(".{layer}.");
  stack_.block_counts.push_back(0);
  return {stack_.blocks.emplace_back(), std::move(prefix), stack_.hidden};
}

void StackBuilder::add_layer(std::size_t block) {
  stack_.layers.push_back(static_cast<std::uint16_t>(block));
  ++stack_.block_counts[block];
}

void StackBuilder::token_embedding(std::string_view name, std::int64_t vocabulary, std::int64_t width) {
  vocabulary_ = vocabulary;
  embedding_width_ = width;
  outside().lookup(name, "embedding", vocabulary, width);
}

void StackBuilder::shared_embedding(std::string_view name, std::int64_t vocabulary, std::string prefix) {
  vocabulary_ = vocabulary;
  embedding_width_ = stack_.hidden;
  outside(std::move(prefix)).lookup(name, "embedding", vocabulary, stack_.hidden);
}

void StackBuilder::head(const HeadSpec& spec) {
  FLOPWATT_CHECK(draft_ && vocabulary_ > 0);
  Architecture& model = draft_->model;
  model.vocabulary = vocabulary_;
  Module top{stack_.outside, draft_->head_prefix};
  const auto classes = [&](std::string_view name, std::int64_t labels, bool bias, Rows rows) {
    top.linear({.name = name,
                .label = "classification",
                .component = Component::other,
                .in = embedding_width_,
                .out = labels,
                .bias = bias,
                .rows = rows});
  };
  switch (draft_->head) {
    case Head::none:
      return;
    case Head::sequence_class:
      return classes("score", draft_->labels, false, Rows::sequences);
    case Head::token_class:
      return classes("score", draft_->labels, true, Rows::tokens);
    case Head::answer_span:
      return classes("qa_outputs", 2, true, Rows::tokens);
    case Head::language_model:
    case Head::masked_model:
      break;
  }
  top.linear({.name = spec.name,
              .label = "lm_head",
              .component = Component::lm_head,
              .in = embedding_width_,
              .out = vocabulary_,
              .bias = spec.bias,
              .rows = Rows::logits});
  if (spec.tied) {
    model.tied_embeddings = true;
    for (Tensor& tensor : stack_.outside) {
      if (tensor.label == "lm_head" && tensor.use == Use::product) tensor.tied = true;
    }
  }
}

}  // namespace flopwatt::model
