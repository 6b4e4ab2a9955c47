#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/base/result.hpp"
#include "flopwatt/device/device.hpp"

namespace flopwatt::device {

/// The text of one catalogue file (data/schema/device.schema.json) and the name to use in errors.
struct Document {
  std::string name;
  std::string text;
};

/// All known devices.  A value: copy and pass it as you like; pointers that it returns live as long as it does.
class Catalogue {
 public:
  /// What ships with the library (data/devices).  An error here is a fault of the build.
  [[nodiscard]] static Result<Catalogue> shipped();

  /// Reads catalogue files.  A device of `overriding` replaces one of `documents` with the same name and adds to them
  /// otherwise.  Errc::bad_data at "FILE" with the key path for: malformed JSON, unknown keys or words, a figure that
  /// is not positive and finite or has no source, a source that is not listed or not used, a sparse peak below its
  /// dense one, a 16-bit tensor peak that is no faster than the vector units, a precision with a peak that is also
  /// called unsupported, a peak stated twice, a name or alias that two devices share.
  [[nodiscard]] static Result<Catalogue> parse(std::span<const Document> documents,
                                               std::span<const Document> overriding = {});

  [[nodiscard]] std::span<const Device> devices() const noexcept { return devices_; }

  /// The device that a name means: catalogue name, alias or what the driver reports, with or without the vendor, in any
  /// case and word order, whole words only.  Errc::usage for an unknown name (with close ones), a name that fits
  /// several variants (with all of them), a partition of a GPU.
  [[nodiscard]] Result<const Device*> find(std::string_view name) const;

  /// The same, but a name that fits several variants ("A100", "A100-80GB") gives the device that they have in common
  /// (family.hpp): figures in which they differ are absent and listed in `differences`.
  [[nodiscard]] Result<Device> resolve(std::string_view name) const;

  /// One device for an exact name; all variants of a family that a shorter name fits; none for an unknown name.
  [[nodiscard]] std::vector<const Device*> find_all(std::string_view name) const;

  /// Names that look like `name`, closest first, for an error message.
  [[nodiscard]] std::vector<std::string> close_names(std::string_view name, std::size_t limit = 4) const;

  /// For a note on a label that may stand for a device of nobody's catalogue: `"A100-SMX4-80GB" is not in the device
  /// catalogue (did you mean A100-SXM4-80GB?)`.
  [[nodiscard]] std::string not_here(std::string_view name) const;

 private:
  /// The words of one spelling (vendor left out) and the device it names.
  struct Spelling {
    std::vector<std::string> words;
    std::size_t device;
  };
  [[nodiscard]] Result<void> index_names();
  [[nodiscard]] Error unknown(std::string_view name) const;

  std::vector<Device> devices_;
  std::vector<std::string> files_;  ///< of each device, for errors
  std::vector<Spelling> spellings_;
};

}  // namespace flopwatt::device
