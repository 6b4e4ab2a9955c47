#include "flopwatt/engine/samples.hpp"

#include <map>

#include "flopwatt/io/file.hpp"
#include "flopwatt/io/hash.hpp"

namespace flopwatt::engine {

Result<std::vector<dataset::Dataset>> read_samples_files(const std::vector<std::string>& files,
                                                         const std::string& device) {
  std::vector<dataset::Dataset> all;
  std::map<std::string, std::string> read_before;  // file by hash of its content
  for (const std::string& file : files) {
    FLOPWATT_TRY(const std::string text, io::read_file(file));
    if (const auto [same, fresh] = read_before.try_emplace(io::sha256_hex(text), file); !fresh) {
      return fail(Errc::bad_data, same->second == file ? "is given twice" : "has the content of " + same->second, file,
                  "give it once: its rows would count twice");
    }
    FLOPWATT_TRY(std::vector<dataset::Dataset> read, dataset::read_samples(text, file, {.device = device}));
    for (dataset::Dataset& one : read) all.push_back(std::move(one));
  }
  return dataset::merge(std::move(all));
}

}  // namespace flopwatt::engine
