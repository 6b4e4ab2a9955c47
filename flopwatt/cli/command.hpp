#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/cli/console.hpp"
#include "flopwatt/cli/option_value.hpp"

/// How a verb describes its command line.  The argument library stays behind parser.cpp; a verb says which words it
/// takes, of what kind and range, and where they go.

namespace flopwatt::cli {

/// An option as --help shows it and as the parser knows it.
struct Option {
  std::string flags;        ///< "--batch", "-o,--output", "--kv-cache,!--no-kv-cache", or "MODEL" for a positional
  std::string placeholder;  ///< "N", "FILE"; empty for a switch
  std::string help;
  std::string group;
  bool required = false;
  bool repeated = false;  ///< a positional that takes one or more words
  std::string only_with;  ///< another option or positional without which this one means nothing; empty: none
  /// Takes a word of the command line; "true" and "false" for a switch.
  std::function<Result<void>(const std::string&)> read;
};

template <class T>
struct Choice {
  std::string_view name;
  T value;
};

class Command {
 public:
  /// Heading under which --help lists the options that follow.
  Command& group(std::string heading) { return group_ = std::move(heading), *this; }

  Command& positional(std::string name, std::string& target, std::string help);
  Command& optional_positional(std::string name, std::string& target, std::string help);
  Command& positionals(std::string name, std::vector<std::string>& target, std::string help);
  /// `Target` is std::string or std::optional<std::string>; an empty word is refused.
  template <class Target>
  Command& text(std::string flags, std::string placeholder, Target& target, std::string help) {
    return add(std::move(flags), std::move(placeholder), std::move(help),
               [&target](const std::string& word) -> Result<void> {
                 if (word.empty()) return fail(Errc::usage, "is empty");
                 target = word;
                 return {};
               });
  }
  template <class Target>
  Command& whole(std::string flags, Target& target, WholeRange range, std::string help) {
    return add(std::move(flags), "N", std::move(help), [&target, range](const std::string& word) -> Result<void> {
      FLOPWATT_TRY(target, read_whole(word, range));
      return {};
    });
  }
  template <class Target>
  Command& real(std::string flags, std::string placeholder, Target& target, RealRange range, std::string help) {
    return add(std::move(flags), std::move(placeholder), std::move(help),
               [&target, range](const std::string& word) -> Result<void> {
                 FLOPWATT_TRY(target, read_real(word, range));
                 return {};
               });
  }
  template <class Target>
  Command& dtype(std::string flags, Target& target, std::string help) {
    return add(std::move(flags), "DTYPE", std::move(help), [&target](const std::string& word) -> Result<void> {
      FLOPWATT_TRY(target, read_precision(word));
      return {};
    });
  }
  /// One of a few words; --help shows them joined by '|'.
  template <class Target, class T, std::size_t Size>
  Command& choice(std::string flags, Target& target, const Choice<T> (&choices)[Size], std::string help) {
    std::array<std::string_view, Size> names;
    std::array<T, Size> values;
    std::string placeholder;
    for (std::size_t i = 0; i < Size; ++i) {
      names[i] = choices[i].name;
      values[i] = choices[i].value;
      placeholder += (i > 0 ? "|" : "") + std::string{choices[i].name};
    }
    return add(std::move(flags), std::move(placeholder), std::move(help),
               [&target, names, values](const std::string& word) -> Result<void> {
                 FLOPWATT_TRY(const std::size_t i, read_choice(word, names));
                 target = values[i];
                 return {};
               });
  }
  Command& flag(std::string flags, bool& target, std::string help);
  /// Refuses the option that was declared last where `other` is not given: it would be ignored.
  Command& only_with(std::string other);
  /// The same for all options so far of the group that is being declared.
  Command& group_only_with(const std::string& other);
  /// Any other kind of word.
  Command& add(std::string flags, std::string placeholder, std::string help,
               std::function<Result<void>(const std::string&)> read);

  [[nodiscard]] const std::vector<Option>& options() const noexcept { return options_; }

 private:
  std::string group_ = "Options";
  std::vector<Option> options_;
};

/// What a verb does once its options are read.  An answer that is printed together with a failure (exit code 5) is
/// printed first.
using Run = std::function<Result<void>(Console&)>;

struct Verb {
  std::string name, summary, example;
  std::function<Run(Command&)> declare;
  std::vector<Verb> verbs;  ///< "sweep report": what else may stand in the place of its first argument
};

}  // namespace flopwatt::cli
