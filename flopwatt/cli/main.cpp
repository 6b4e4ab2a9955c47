#include <cstdlib>
#include <exception>
#include <string>
#include <vector>

#include "flopwatt/cli/program.hpp"

int main(int argc, char** argv) {
  flopwatt::cli::prepare_process();
  flopwatt::cli::Console console;
  try {
    return flopwatt::cli::run_program({argv + 1, argv + argc}, console);
  } catch (const std::exception& fault) {  // ours never throw: out of memory, or a fault in a library
    console.complain({.code = flopwatt::Errc::internal, .what = fault.what(), .remedy = "please report this"});
    return static_cast<int>(flopwatt::Errc::internal);
  }
}
