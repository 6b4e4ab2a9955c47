#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"

namespace flopwatt::model {

/// Models known by name: those compiled in from data/models, and the user's own (`--data`).
class Catalogue {
 public:
  struct Entry {
    std::string name;                        ///< "Qwen/Qwen2.5-3B"
    std::vector<std::string> aliases;        ///< other names: "gpt2" for "openai-community/gpt2"
    std::string source;                      ///< where the shapes were read
    std::optional<std::int64_t> parameters;  ///< as published; a test holds the census against it
    std::string config;                      ///< the config.json that describes it
  };

  /// The models that ship with flopwatt.
  [[nodiscard]] static Catalogue builtin();

  /// Adds the entries of a catalogue file (data/schema/model.schema.json); one of a known name replaces it.
  /// Errors: Errc::bad_data at the file, and nothing is added.
  [[nodiscard]] Result<void> add(std::string_view json, std::string_view where);

  /// The model of that name, in any case; the end of a name will do if only one ends so ("Qwen2.5-3B"), from a word
  /// of the name on.  Errors: Errc::usage for a name that is unknown or fits several, with candidates; those of
  /// read_config() for a broken entry.
  [[nodiscard]] Result<Architecture> find(std::string_view name) const;
  [[nodiscard]] Result<const Entry*> find_entry(std::string_view name) const;

  [[nodiscard]] const std::vector<Entry>& entries() const noexcept { return entries_; }

 private:
  std::vector<Entry> entries_;
};

}  // namespace flopwatt::model
