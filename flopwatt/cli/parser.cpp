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
  // Repeating an option is most likely a mistake, so it is refused; a positional list takes all words.
  added->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  if (option.repeated) added->expected(1, CLI::detail::expected_max_vector_size)->allow_extra_args();
  return added;
}

tl::unexpected<Error> unknown_word(const Command& command, const std::string& verb, const std::string& word) {
  const std::string name = word.substr(0, word.find('='));
  if (name.front() != '-') {
    return fail(Errc::usage, "one argument too many", base::excerpt(word),
                fmt::format("see 'flopwatt {} --help'", verb));
  }
  std::vector<std::string> names;
  for (const Option& option : command.options()) {
    if (option.flags.front() == '-') names.push_back(long_name(option.flags));
  }
  const auto meant = suggest(name, names);
  return fail(Errc::usage, fmt::format("unknown option of '{}'", verb), base::excerpt(name),
              meant ? fmt::format("did you mean {}?", *meant) : fmt::format("see 'flopwatt {} --help'", verb));
}

}  // namespace

Result<Asked> parse(const Command& command, const std::string& verb, std::vector<std::string> words) {
  CLI::App app;
  app.allow_extras();
  std::vector<CLI::Option*> added;
  for (const Option& option : command.options()) added.push_back(add_to(app, option));

  std::reverse(words.begin(), words.end());  // CLI11 takes them from the back
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    return Asked::help;
  } catch (const CLI::ParseError& error) {
    std::string what = error.what();
    std::replace(what.begin(), what.end(), '\n', ' ');
    return fail(Errc::usage, what, {}, fmt::format("see 'flopwatt {} --help'", verb));
  }
  if (const auto extra = app.remaining(); !extra.empty()) return unknown_word(command, verb, extra.front());

  for (std::size_t i = 0; i < added.size(); ++i) {
    const Option& option = command.options()[i];
    const std::string name = long_name(option.flags);
    if (option.required && added[i]->count() == 0) {
      return fail(Errc::usage, "is missing", name, fmt::format("see 'flopwatt {} --help'", verb));
    }
    const std::vector<std::string> results = added[i]->results();
    if (is_switch(option) && std::ranges::find(results, "true") != results.end() &&
        std::ranges::find(results, "false") != results.end()) {
      return fail(Errc::usage, "is given both ways", option.flags.substr(0, option.flags.find(',')),
                  fmt::format("give one of {}", switch_names(option.flags)));
    }
    for (const std::string& word : results) {
      if (is_switch(option) && word != "true" && word != "false") {
        return fail(Errc::usage, fmt::format("is a switch and takes no '{}'", base::excerpt(word)), name);
      }
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
