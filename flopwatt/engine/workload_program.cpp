#include "flopwatt/engine/workload_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <string_view>

namespace flopwatt::engine {
namespace {

constexpr const char* kProgram = "flopwatt-torch";

bool executable(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && ::access(path.c_str(), X_OK) == 0;
}

std::string in_path() {
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "" : variable;
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    const std::filesystem::path program = std::filesystem::path{folders.substr(0, colon)} / kProgram;
    if (executable(program)) return program.string();
    folders = colon == std::string_view::npos ? std::string_view{} : folders.substr(colon + 1);
  }
  return "";
}

}  // namespace

Result<std::string> workload_program(const std::string& named) {
  const char* variable = std::getenv("FLOPWATT_WORKLOAD");
  const std::string wanted = variable != nullptr && *variable != '\0' ? variable : named;
  if (!wanted.empty()) {
    if (executable(wanted)) return wanted;
    return fail(Errc::unavailable, "is no program that can be run", wanted,
                "correct FLOPWATT_WORKLOAD, or `workload` in the plan");
  }
  std::error_code ignored;
  const std::filesystem::path beside =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path() / kProgram;
  if (executable(beside)) return beside.string();
  if (std::string found = in_path(); !found.empty()) return found;
  return fail(Errc::unavailable, "is not there: this flopwatt was built without LibTorch", kProgram,
              "install LibTorch (Debian: libtorch-dev) and build again, or name a program by FLOPWATT_WORKLOAD");
}

}  // namespace flopwatt::engine
