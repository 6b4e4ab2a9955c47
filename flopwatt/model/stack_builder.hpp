#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "flopwatt/model/family.hpp"
#include "flopwatt/model/module.hpp"

namespace flopwatt::model {

/// Puts a stack together: what stands outside the layers, and layers of one or several kinds.
class StackBuilder {
 public:
  /// The text stack of a draft; `body` is the prefix of its tensors in the family's own checkpoints ("model.").
  StackBuilder(Draft& draft, std::int64_t hidden, std::string_view body);
  /// Any other stack.
  StackBuilder(StackRole role, std::int64_t hidden, std::string prefix);

  /// Tensors outside the layers, under the stack's prefix.
  [[nodiscard]] Module outside() { return {stack_.outside, prefix_}; }
  /// The same under another prefix.
  [[nodiscard]] Module outside(std::string prefix) { return {stack_.outside, std::move(prefix)}; }
  [[nodiscard]] std::int64_t hidden() const noexcept { return stack_.hidden; }

  /// The same layer `count` times, as PREFIX.NAME.{layer}.
  template <class Build>
  void layers(std::int64_t count, std::string_view name, Build build) {
    layers(count, name, [](std::int64_t) { return 0; }, [&](Layer& layer, int) { build(layer); });
  }
  /// Layers of several kinds: kind(i) is any comparable value that tells the kind of layer i, and build(layer, kind)
  /// runs once for each kind.
  template <class KindOf, class Build>
  void layers(std::int64_t count, std::string_view name, KindOf kind_of, Build build) {
    using Kind = std::decay_t<decltype(kind_of(std::int64_t{}))>;
    std::vector<Kind> kinds;
    const std::size_t first = stack_.blocks.size();
    for (std::int64_t i = 0; i < count; ++i) {
      const Kind kind = kind_of(i);
      const auto known = static_cast<std::size_t>(std::find(kinds.begin(), kinds.end(), kind) - kinds.begin());
      if (known == kinds.size()) {
        kinds.push_back(kind);
        Layer layer = new_block(name);
        build(layer, kind);
      }
      add_layer(first + known);
    }
  }

  /// The token embedding NAME.weight [vocabulary, width].
  void token_embedding(std::string_view name, std::int64_t vocabulary, std::int64_t width);
  void token_embedding(std::string_view name, std::int64_t vocabulary) {
    token_embedding(name, vocabulary, stack_.hidden);
  }
  /// The same under another prefix.
  void shared_embedding(std::string_view name, std::int64_t vocabulary, std::string prefix);

  struct HeadSpec {
    std::string_view name = "lm_head";
    bool tied = false;
    bool bias = false;
  };
  /// What the draft's class puts on top: the vocabulary product, a classification, or nothing.
  void head(const HeadSpec& spec);

  /// Hands the stack to the draft's model.
  void finish(Architecture& model) { model.stacks.push_back(std::move(stack_)); }

 private:
  [[nodiscard]] Layer new_block(std::string_view name);
  void add_layer(std::size_t block);

  Draft* draft_ = nullptr;
  std::string prefix_;
  Stack stack_;
  std::int64_t vocabulary_ = 0, embedding_width_ = 0;
};

}  // namespace flopwatt::model
