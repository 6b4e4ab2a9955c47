#pragma once

#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/model/architecture.hpp"
#include "flopwatt/model/family.hpp"

namespace flopwatt::model {

struct ReadOptions {
  /// Reads the file with this family whatever its model_type says (`--as`); the architecture's notes say so.
  std::string as_family;
  /// What the user calls the model; `where` if empty.
  std::string name;
};

/// The architecture that a Hugging Face config.json describes.  `where` is the file's name, for errors.
///
/// Missing keys take the default of the Hugging Face class of that model_type, never another model's.  Errors, all
/// Errc::bad_data unless noted: text that is no JSON object, a model_type or class that no family reads (named, with
/// the families that could be forced), a shape that is missing, not a whole number or out of range, shapes that
/// contradict each other.  Errc::usage: `as_family` is no family.
[[nodiscard]] Result<Architecture> read_config(std::string_view json, std::string_view where,
                                               const ReadOptions& options = {});

/// Reads a nested language model (`text_config`) with the family that its own model_type names.  An absent model_type
/// means `class_default`.  Errors go to the draft's ReadState.
void read_text_config(Draft& draft, std::string_view class_default);

}  // namespace flopwatt::model
