#include "flopwatt/cli/parser.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "flopwatt/cli/suggest.hpp"

namespace flopwatt::cli {
namespace {

/// "--batch" of "-b,--batch" and of "--kv-cache,!--no-kv-cache"; the name itself for a positional.
std::string long_name(const std::string& flags) {
  const std::size_t dashes = flags.find("--");
  const std::size_t begin = dashes == std::string::npos ? 0 : dashes;
  return flags.substr(begin, flags.find(',', begin) - begin);
}

bool is_switch(const Option& option) { return option.flags.front() == '-' && option.placeholder.empty(); }

/// "--kv-cache and --no-kv-cache" of "--kv-cache,!--no-kv-cache".
std::string switch_names(std::string flags) {
  std::erase(flags, '!');
  if (const std::size_t comma = flags.find(','); comma != std::string::npos) flags.replace(comma, 1, " and ");
  return flags;
}

CLI::Option* add_to(CLI::App& app, const Option& option) {
  if (is_switch(option)) return app.add_flag(option.flags);
  CLI::Option* added = app.add_option(option.flags);
  // What an option is given is judged in parse(), in our own words; a positional list takes all words.
  added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  if (option.repeated) added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  return added;
}

/// A word as an error shows it.
std::string shown_word(const std::string& word) { return word.empty() ? "''" : base::excerpt(word); }

std::string see_help(const std::string& verb) { return fmt::format("see 'flopwatt {} --help'", verb); }

/// "-o" and "--output" of "-o,--output", "--no-kv-cache" of "--kv-cache,!--no-kv-cache".
bool is_name_of(const Option& option, std::string_view word) {
  for (std::size_t begin = 0; begin < option.flags.size();) {
    const std::size_t end = std::min(option.flags.find(',', begin), option.flags.size());
    std::string_view name = std::string_view{option.flags}.substr(begin, end - begin);
    if (name.starts_with('!')) name.remove_prefix(1);
    if (name == word && name.starts_with('-')) return true;
    begin = end + 1;
  }
  return false;
}

const Option* find(const Command& command, std::string_view word) {
  for (const Option& option : command.options()) {
    if (is_name_of(option, word)) return &option;
  }
  return nullptr;
}

tl::unexpected<Error> needs_value(const std::string& name, const std::string& verb, std::string_view instead = {}) {
  const std::string what = "needs a value";
  return fail(Errc::usage, instead.empty() ? what : fmt::format("{}, and {} is an option", what, instead), name,
              see_help(verb));
}

/// "--batch=" and "--json=yes" before the library makes something of them, and an option at the end of the line.
Result<void> check_words(const Command& command, const std::string& verb, const std::vector<std::string>& words) {
  for (std::size_t i = 0; i < words.size() && words[i] != "--"; ++i) {
    const std::size_t equals = words[i].starts_with("--") ? words[i].find('=') : std::string::npos;
    const std::string name = words[i].substr(0, equals);
    const Option* const option = find(command, name);
    if (option == nullptr) continue;
    const std::string value = equals == std::string::npos ? std::string{} : words[i].substr(equals + 1);
    if (is_switch(*option)) {
      if (equals == std::string::npos || value == "true" || value == "false") continue;
      return fail(Errc::usage, fmt::format("is a switch and takes no '{}'", base::excerpt(value)), name);
    }
    if (equals != std::string::npos) {
      if (value.empty()) return needs_value(name, verb);
      continue;
    }
    if (i + 1 == words.size()) return needs_value(name, verb);
    ++i;  // the value; that of an option which was forgotten is the name of the next one
    const std::string next = words[i].substr(0, words[i].find('='));
    if (find(command, next) != nullptr || next == "--help") return needs_value(name, verb, next);
  }
  return {};
}

tl::unexpected<Error> unknown_word(const Command& command, const std::string& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (!name.starts_with('-')) {
    return fail(Errc::usage, "one argument too many", shown_word(word), see_help(verb));
  }
  std::vector<std::string> names;
  for (const Option& option : command.options()) {
    if (option.flags.front() == '-') names.push_back(long_name(option.flags));
  }
  const auto meant = suggest(name, names);
  return fail(Errc::usage, fmt::format("unknown option of '{}'", verb), base::excerpt(name),
              meant ? fmt::format("did you mean {}?", *meant) : see_help(verb));
}

/// An option that would be ignored, since the one that it speaks of is not there.
Result<void> check_company(const Command& command, const std::vector<CLI::Option*>& added) {
  for (std::size_t i = 0; i < added.size(); ++i) {
    const std::string& other = command.options()[i].only_with;
    if (other.empty() || added[i]->count() == 0) continue;
    for (std::size_t j = 0; j < added.size(); ++j) {
      if (long_name(command.options()[j].flags) != other || added[j]->count() > 0) continue;
      return fail(Errc::usage, "means nothing without " + other, long_name(command.options()[i].flags),
                  fmt::format("add {}, or leave it out", other));
    }
  }
  return {};
}

/// What no option or argument took.  The words after "--" are arguments, whatever they begin with.
Result<void> refuse_extra(const Command& command, const std::string& verb, const std::vector<std::string>& extra) {
  if (extra.empty()) return {};
  if (extra.front() != "--") return unknown_word(command, verb, extra.front());
  if (extra.size() == 1) return {};
  return fail(Errc::usage, "one argument too many", shown_word(extra[1]), see_help(verb));
}

}  // namespace

Result<Asked> parse(const Command& command, const std::string& verb, std::vector<std::string> words) {
  CLI::App app;
  app.allow_extras();
  std::vector<CLI::Option*> added;
  for (const Option& option : command.options()) added.push_back(add_to(app, option));

  FLOPWATT_TRY_VOID(check_words(command, verb, words));
  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::ParseError& error) {  // what check_words lets through is none of the user's doing
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return fail(Errc::usage, what, {}, see_help(verb));
  }
  FLOPWATT_TRY_VOID(refuse_extra(command, verb, app.remaining()));
  FLOPWATT_TRY_VOID(check_company(command, added));

  for (std::size_t i = 0; i < added.size(); ++i) {
    const Option& option = command.options()[i];
    const std::string name = long_name(option.flags);
    if (option.required && added[i]->count() == 0) return fail(Errc::usage, "is missing", name, see_help(verb));
    const std::vector<std::string> results = added[i]->results();
    // Repeating an option is most likely a mistake.
    if (!is_switch(option) && !option.repeated && results.size() > 1) {
      return fail(Errc::usage, "is given more than once", name, "give it once");
    }
    if (is_switch(option) && std::ranges::find(results, "true") != results.end() &&
        std::ranges::find(results, "false") != results.end()) {
      return fail(Errc::usage, "is given both ways", option.flags.substr(0, option.flags.find(',')),
                  fmt::format("give one of {}", switch_names(option.flags)));
    }
    for (const std::string& word : results) {
      if (const Result<void> read = option.read(word); !read) {
        Error error = read.error();
        if (error.where.empty()) error.where = name;
        return fail(std::move(error));
      }
    }
  }
  return Asked::run;
}

}  // namespace flopwatt::cli
