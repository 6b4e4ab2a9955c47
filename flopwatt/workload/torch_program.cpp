#include "flopwatt/workload/torch_program.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "flopwatt/io/file.hpp"

namespace flopwatt::workload {
namespace {

constexpr std::string_view kName = "flopwatt-torch";
constexpr const char* kVariable = "FLOPWATT_TORCH";
constexpr const char* kRemedy =
    "install LibTorch (Debian: libtorch-dev libopenblas0-pthread) and build flopwatt again, or name the program in "
    "FLOPWATT_TORCH; see docs/libtorch.md";

bool runs(const std::string& path) { return ::access(path.c_str(), X_OK) == 0; }

}  // namespace

Result<std::string> torch_program() {
  if (const char* const named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    if (runs(named)) return std::string{named};
    return fail(Errc::unavailable, "names no program: " + base::excerpt(named), kVariable, kRemedy);
  }
  const std::string folder = io::program_folder();
  if (std::string beside = folder + '/' + std::string{kName}; !folder.empty() && runs(beside)) return beside;
  const char* const variable = std::getenv("PATH");
  std::string_view rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    std::string path = std::string{rest.substr(0, colon)} + '/' + std::string{kName};
    if (path.front() == '/' && runs(path)) return path;  // an empty or relative folder is not searched
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
  }
  return fail(Errc::unavailable, "flopwatt-torch is not there: measuring a workload needs LibTorch", {}, kRemedy);
}

}  // namespace flopwatt::workload
