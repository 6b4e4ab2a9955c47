#include "flopwatt/cli/program.hpp"

#include <algorithm>

#include "flopwatt/base/version.hpp"
#include "flopwatt/cli/help.hpp"
#include "flopwatt/cli/parser.hpp"
#include "flopwatt/cli/suggest.hpp"
#include "flopwatt/cli/verbs.hpp"

namespace flopwatt::cli {
namespace {

tl::unexpected<Error> unknown_verb(const std::vector<Verb>& verbs, const std::string& word) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.push_back(verb.name);
  const auto meant = suggest(word, names);
  return fail(Errc::usage, word.starts_with('-') ? "unknown option" : "unknown verb",
              word.empty() ? "''" : base::excerpt(word),
              meant ? "did you mean '" + *meant + "'?" : "see 'flopwatt --help'");
}

Result<void> run_verb(const Verb& verb, std::vector<std::string> words, Console& console) {
  for (Verb inner : verb.verbs) {
    if (words.empty() || words.front() != inner.name) continue;
    inner.name = verb.name + ' ' + inner.name;
    return run_verb(inner, {words.begin() + 1, words.end()}, console);
  }
  Command command;
  const Run run = verb.declare(command);
  FLOPWATT_TRY(const Asked asked, parse(command, verb.name, std::move(words)));
  return asked == Asked::help ? console.print(help(verb, command)) : run(console);
}

bool asks_for_help(const std::string& word) { return word == "--help" || word == "-h" || word == "help"; }

Result<void> dispatch(std::vector<std::string> words, Console& console) {
  const std::vector<Verb> verbs = all_verbs();
  if (words.empty()) return fail(Errc::usage, "no verb given", {}, "see 'flopwatt --help'");
  if (words.front() == "--version") {
    if (words.size() == 1) return console.print("flopwatt " + std::string{base::kVersion} + '\n');
    return fail(Errc::usage, "one argument too many", base::excerpt(words[1]), "see 'flopwatt --help'");
  }
  if (asks_for_help(words.front())) {  // "help count" is "count --help"
    words.erase(words.begin());
    if (words.empty() || asks_for_help(words.front())) return console.print(overview(verbs));
    words.emplace_back("--help");
  }
  const auto verb = std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == words.front(); });
  if (verb == verbs.end()) return unknown_verb(verbs, words.front());
  return run_verb(*verb, {words.begin() + 1, words.end()}, console);
}

}  // namespace

int run_program(const std::vector<std::string>& words, Console& console) {
  const Result<void> done = dispatch(words, console);
  if (done) return 0;
  console.complain(done.error());
  return static_cast<int>(done.error().code);
}

}  // namespace flopwatt::cli
