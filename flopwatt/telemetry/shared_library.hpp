#pragma once

#include <span>
#include <string>
#include <tl/expected.hpp>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

/// A driver's library, opened at run time and never closed: a driver that hangs may still be running in it, and closing
/// one that started threads of its own is no defined thing.
class SharedLibrary {
 public:
  /// The first of the names that the dynamic linker finds.  Absence::not_present with the linker's words if none,
  /// Absence::garbage if one is there but is no library.
  [[nodiscard]] static tl::expected<SharedLibrary, SourceAbsence> open(std::string source,
                                                                       std::span<const std::string> names);

  /// Address of a function, or null where the library does not have it.
  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(symbol(name));  // NOLINT(*-reinterpret-cast)
  }
  [[nodiscard]] const std::string& name() const { return name_; }

 private:
  SharedLibrary(void* handle, std::string name);
  [[nodiscard]] void* symbol(const char* name) const;
  void* handle_;
  std::string name_;
};

/// Text of a driver that may hold anything: bytes that are no printable UTF-8 become '?', blanks at the ends go.
[[nodiscard]] std::string printable(std::string_view text);

}  // namespace flopwatt::telemetry
