#include "flopwatt/engine/samples.hpp"

#include "flopwatt/io/file.hpp"

namespace flopwatt::engine {

Result<std::vector<dataset::Dataset>> read_samples_files(const std::vector<std::string>& files,
                                                         const std::string& device) {
  std::vector<dataset::Dataset> all;
  for (const std::string& file : files) {
    FLOPWATT_TRY(const std::string text, io::read_file(file));
    FLOPWATT_TRY(std::vector<dataset::Dataset> read, dataset::read_samples(text, file, {.device = device}));
    for (dataset::Dataset& one : read) all.push_back(std::move(one));
  }
  return dataset::merge(std::move(all));
}

}  // namespace flopwatt::engine
