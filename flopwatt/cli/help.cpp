#include "flopwatt/cli/help.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "flopwatt/report/width.hpp"

namespace flopwatt::cli {
namespace {

constexpr std::size_t kHelpColumn = 30;

bool positional(const Option& option) { return option.flags.front() != '-'; }

/// "-o, --output FILE", "--kv-cache, --no-kv-cache".
std::string shown_flags(const Option& option) {
  std::string flags;
  for (const char c : option.flags) {
    if (c == '!') continue;
    flags += c;
    if (c == ',') flags += ' ';
  }
  return option.placeholder.empty() ? flags : flags + ' ' + option.placeholder;
}

std::string entry(const std::string& left, const std::string& right) {
  std::string out = "  " + left;
  const auto lines = report::wrap(right, report::kTerminalColumns - kHelpColumn);
  const bool beside = report::columns(out) + 2 <= kHelpColumn;
  if (!beside) out += '\n';
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::size_t indent = i == 0 && beside ? kHelpColumn - report::columns(out) : kHelpColumn;
    out += std::string(indent, ' ') + lines[i] + '\n';
  }
  return out;
}

}  // namespace

std::string help(const Verb& verb, const Command& command) {
  std::string usage = "Usage: flopwatt " + verb.name + " [OPTIONS]";
  std::vector<std::string> groups;
  for (const Option& option : command.options()) {
    if (positional(option))
      usage += option.required ? ' ' + option.flags + (option.repeated ? "…" : "") : " [" + option.flags + "]";
    if (std::find(groups.begin(), groups.end(), option.group) == groups.end()) groups.push_back(option.group);
  }
  std::string out;
  for (const std::string& line : report::wrap(verb.summary, report::kTerminalColumns)) out += line + '\n';
  out += '\n' + usage + '\n';
  for (const std::string& group : groups) {
    out += '\n' + group + ":\n";
    for (const Option& option : command.options()) {
      if (option.group == group) out += entry(shown_flags(option), option.help);
    }
  }
  if (!verb.verbs.empty()) out += "\nIn the place of " + command.options().front().flags + ":\n";
  for (const Verb& inner : verb.verbs) out += entry(inner.name, inner.summary);
  return out + "\nExample:\n  " + verb.example + '\n';
}

std::string overview(std::span<const Verb> verbs) {
  std::string out =
      "FLOPs, bytes, step time, watts, joules, cost and carbon of LLM training and\ninference.\n\n"
      "Usage: flopwatt VERB [OPTIONS] …\n\nVerbs:\n";
  for (const Verb& verb : verbs)
    out += fmt::format("  {:<10}{}\n", verb.name, verb.summary.substr(0, verb.summary.find(':')));
  out += entry("--help, --version", "also 'flopwatt VERB --help', which ends with an example");
  return out +
         "\nExit codes: 0 done, 1 internal fault, 2 usage, 3 bad input data,\n4 not available on this machine, 5 the "
         "plan "
         "cannot work.\n\nExample:\n  flopwatt count Qwen/Qwen2.5-1.5B --seq 2048\n";
}

}  // namespace flopwatt::cli
