#include "flopwatt/cli/command.hpp"

namespace flopwatt::cli {

Command& Command::positional(std::string name, std::string& target, std::string help) {
  optional_positional(std::move(name), target, std::move(help));
  options_.back().required = true;
  return *this;
}

Command& Command::optional_positional(std::string name, std::string& target, std::string help) {
  text(std::move(name), "", target, std::move(help));
  options_.back().group = "Arguments";
  return *this;
}

Command& Command::positionals(std::string name, std::vector<std::string>& target, std::string help) {
  add(std::move(name), "", std::move(help), [&target](const std::string& word) -> Result<void> {
    if (word.empty()) return fail(Errc::usage, "is empty");
    target.push_back(word);
    return {};
  });
  options_.back().required = true;
  options_.back().repeated = true;
  options_.back().group = "Arguments";
  return *this;
}

Command& Command::flag(std::string flags, bool& target, std::string help) {
  return add(std::move(flags), "", std::move(help), [&target](const std::string& word) -> Result<void> {
    target = word == "true";
    return {};
  });
}

Command& Command::only_with(std::string other) {
  options_.back().only_with = std::move(other);
  return *this;
}

Command& Command::group_only_with(const std::string& other) {
  for (Option& option : options_) {
    if (option.group == group_) option.only_with = other;
  }
  return *this;
}

Command& Command::add(std::string flags, std::string placeholder, std::string help,
                      std::function<Result<void>(const std::string&)> read) {
  options_.push_back({.flags = std::move(flags),
                      .placeholder = std::move(placeholder),
                      .help = std::move(help),
                      .group = group_,
                      .read = std::move(read)});
  return *this;
}

}  // namespace flopwatt::cli
