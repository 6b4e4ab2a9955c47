#include "flopwatt/telemetry/shared_library.hpp"

#include <dlfcn.h>

#include <utility>

namespace flopwatt::telemetry {

SharedLibrary::SharedLibrary(void* handle, std::string name) : handle_{handle}, name_{std::move(name)} {}

tl::expected<SharedLibrary, SourceAbsence> SharedLibrary::open(std::string source, std::span<const std::string> names) {
  SourceAbsence absence{std::move(source), Absence::not_present, {}, {}};
  for (const std::string& name : names) {
    if (void* handle = ::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL); handle != nullptr) {
      return SharedLibrary{handle, name};
    }
    const char* words = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
    const std::string why = printable(words == nullptr ? name : words);
    const bool found = why.find("No such file") == std::string::npos;
    if (found || absence.detail.empty()) absence.detail = why;
    if (found) absence.reason = Absence::garbage;
  }
  return tl::unexpected{std::move(absence)};
}

void* SharedLibrary::symbol(const char* name) const { return ::dlsym(handle_, name); }

std::string printable(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const std::size_t length = byte < 0x80          ? 1
                               : (byte >> 5U) == 6  ? 2
                               : (byte >> 4U) == 14 ? 3
                               : (byte >> 3U) == 30 ? 4
                                                    : 0;
    bool good = length > 0 && i + length <= text.size() && byte >= 0x20 && byte != 0x7F && byte != 0xC0 && byte != 0xC1;
    for (std::size_t k = 1; good && k < length; ++k) good = (static_cast<unsigned char>(text[i + k]) >> 6U) == 2;
    // U+0080 … U+009F control a terminal as well.
    if (good && byte == 0xC2 && static_cast<unsigned char>(text[i + 1]) < 0xA0) good = false;
    if (good) {
      result.append(text.substr(i, length));
      i += length;
    } else {
      result += '?';
      ++i;
    }
  }
  const std::size_t begin = result.find_first_not_of(' ');
  if (begin == std::string::npos) return {};
  return result.substr(begin, result.find_last_not_of(' ') - begin + 1);
}

}  // namespace flopwatt::telemetry
