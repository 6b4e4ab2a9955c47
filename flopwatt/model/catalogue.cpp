#include "flopwatt/model/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <utility>

#include "flopwatt/base/check.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/model/embedded.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::model {
namespace {

constexpr std::size_t kMaxCandidates = 6;

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

std::string lower(std::string_view text) {
  std::string result{text};
  for (char& c : result) c = lower(c);
  return result;
}

bool same_name(std::string_view a, std::string_view b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return lower(x) == lower(y); });
}

/// `name` is all of `full`, or what follows a separator in it.  Both in lower case.
bool ends_with_words(std::string_view full, std::string_view name) {
  if (!full.ends_with(name)) return false;
  if (full.size() == name.size()) return true;
  return std::isalnum(static_cast<unsigned char>(full[full.size() - name.size() - 1])) == 0;
}

/// Insertions, deletions and replacements that turn one text into the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, replaced}));
    }
  }
  return row.back();
}

/// The words of a name in lower case: "llama", "3.1", "8b".
std::vector<std::string_view> words_of(std::string_view name) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  for (std::size_t end = 0; end <= name.size(); ++end) {
    const bool inside =
        end < name.size() && (std::isalnum(static_cast<unsigned char>(name[end])) != 0 || name[end] == '.');
    if (inside) continue;
    if (end > begin) words.push_back(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// How unlike two names in lower case are: 0 where one holds the other, below 2; the share of its words that the wanted
/// name has alone, and of its letters that would have to change.
double unlike(std::string_view known, std::string_view wanted) {
  if (known.find(wanted) != std::string_view::npos) return 0;
  const std::vector<std::string_view> ours = words_of(known);
  const std::vector<std::string_view> theirs = words_of(wanted);
  if (theirs.empty()) return 2;
  const auto shared = std::count_if(theirs.begin(), theirs.end(), [&](std::string_view word) {
    return std::find(ours.begin(), ours.end(), word) != ours.end();
  });
  const double alone = 1 - static_cast<double>(shared) / static_cast<double>(theirs.size());
  return alone +
         static_cast<double>(edit_distance(known, wanted)) / static_cast<double>(std::max(known.size(), wanted.size()));
}

/// The names most like the wanted one, at most three; none where nothing is like it.
std::vector<std::string_view> closest(const std::vector<Catalogue::Entry>& entries, std::string_view wanted) {
  constexpr std::size_t kSuggestions = 3;
  constexpr double kFar = 1.3;               // no word in common and most letters different
  constexpr std::size_t kLongestName = 128;  // longer ones are not mistyped names
  if (wanted.empty() || wanted.size() > kLongestName) return {};
  std::vector<std::pair<double, std::string_view>> ranked;
  for (const Catalogue::Entry& entry : entries) {
    double best = kFar;
    const auto compare = [&](const std::string& name) {
      const std::string full = lower(name);
      const std::string_view tail = std::string_view{full}.substr(full.find('/') + 1);
      best = std::min({best, unlike(full, wanted), unlike(tail, wanted)});
    };
    compare(entry.name);
    for (const std::string& alias : entry.aliases) compare(alias);
    if (best < kFar) ranked.emplace_back(best, entry.name);
  }
  std::sort(ranked.begin(), ranked.end());
  if (ranked.size() > kSuggestions) ranked.resize(kSuggestions);
  std::vector<std::string_view> names;
  for (const auto& [distance, candidate] : ranked) names.push_back(candidate);
  return names;
}

std::string list(const std::vector<std::string_view>& names) {
  if (names.size() <= kMaxCandidates) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, …", fmt::join(names.begin(), names.begin() + kMaxCandidates, ", "));
}

/// A text field of an entry, or nothing.
std::optional<std::string> text(const io::Json& entry, std::string_view key) {
  const auto found = entry.find(key);
  if (found == entry.end() || !found->is_string() || found->get_ref<const std::string&>().empty()) return std::nullopt;
  return found->get<std::string>();
}

Result<Catalogue::Entry> read_entry(const io::Json& json, std::size_t index, std::string_view where) {
  const auto broken = [&](std::string_view what) {
    return fail(Errc::bad_data, fmt::format("models.{} {}", index, what), std::string{where},
                "see data/schema/model.schema.json");
  };
  if (!json.is_object()) return broken("is not an object");
  const auto name = text(json, "name");
  if (!name) return broken("has no name");
  const auto source = text(json, "source");
  if (!source) return broken(fmt::format("({}) has no source", base::excerpt(*name)));
  const auto config = json.find("config");
  if (config == json.end() || !config->is_object()) {
    return broken(fmt::format("({}) has no config", base::excerpt(*name)));
  }
  Catalogue::Entry entry{.name = *name, .source = *source, .config = config->dump()};
  if (const auto parameters = json.find("parameters"); parameters != json.end()) {
    if (!parameters->is_number_integer()) return broken("has a number of parameters that is not whole");
    entry.parameters = parameters->get<std::int64_t>();
  }
  if (const auto aliases = json.find("aliases"); aliases != json.end()) {
    if (!aliases->is_array()) return broken("has aliases that are not a list");
    for (const io::Json& alias : *aliases) {
      if (!alias.is_string()) return broken("has an alias that is not a text");
      entry.aliases.push_back(alias.get<std::string>());
    }
  }
  return entry;
}

}  // namespace

Catalogue Catalogue::builtin() {
  Catalogue catalogue;
  for (const EmbeddedFile& file : embedded_files()) {
    const Result<void> added = catalogue.add(file.content, file.name);
    FLOPWATT_CHECK(added.has_value());
  }
  return catalogue;
}

Result<void> Catalogue::add(std::string_view json, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(json, where));
  const auto refuse = [&](std::string what) {
    return fail(Errc::bad_data, std::move(what), std::string{where}, "see data/schema/model.schema.json");
  };
  if (!document.is_object()) return refuse("is not a JSON object");
  if (text(document, "schema") != "flopwatt.models/1") return refuse("schema is not \"flopwatt.models/1\"");
  const auto models = document.find("models");
  if (models == document.end() || !models->is_array()) return refuse("has no list of models");

  std::vector<Entry> added;
  for (const io::Json& model : *models) {
    FLOPWATT_TRY(Entry entry, read_entry(model, added.size(), where));
    added.push_back(std::move(entry));
  }
  for (Entry& entry : added) {
    std::erase_if(entries_, [&](const Entry& known) { return same_name(known.name, entry.name); });
    entries_.push_back(std::move(entry));
  }
  return {};
}

Result<const Catalogue::Entry*> Catalogue::find_entry(std::string_view name) const {
  const std::string wanted = lower(name);
  const auto refuse = [&](std::string what, const std::vector<std::string_view>& candidates) {
    return fail(Errc::usage, std::move(what), "",
                candidates.empty() ? "give a config.json, a folder holding one, or a name such as Qwen/Qwen2.5-3B"
                                   : fmt::format("give a config.json or one of {}", list(candidates)));
  };
  std::vector<const Entry*> found;
  for (const Entry& entry : entries_) {
    const auto is_wanted = [&](const std::string& alias) { return same_name(alias, wanted); };
    if (is_wanted(entry.name)) return &entry;
    if (std::any_of(entry.aliases.begin(), entry.aliases.end(), is_wanted)) found.push_back(&entry);
  }
  if (found.empty() && !wanted.empty()) {
    for (const Entry& entry : entries_) {
      const auto ends_so = [&](const std::string& known) { return ends_with_words(lower(known), wanted); };
      if (ends_so(entry.name) || std::any_of(entry.aliases.begin(), entry.aliases.end(), ends_so)) {
        found.push_back(&entry);
      }
    }
  }
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    return refuse(fmt::format("no model is called '{}'", base::excerpt(name)), closest(entries_, wanted));
  }
  std::vector<std::string_view> candidates;
  for (const Entry* entry : found) candidates.push_back(entry->name);
  return refuse(fmt::format("'{}' fits {} models", base::excerpt(name), found.size()), candidates);
}

Result<Architecture> Catalogue::find(std::string_view name) const {
  FLOPWATT_TRY(const Entry* entry, find_entry(name));
  FLOPWATT_TRY(Architecture model,
               read_config(entry->config, fmt::format("catalogue: {}", entry->name), {.name = entry->name}));
  model.source = entry->source;
  return model;
}

}  // namespace flopwatt::model
