#include "flopwatt/engine/facts.hpp"

#include <algorithm>
#include <cctype>

#include "flopwatt/device/embedded.hpp"
#include "flopwatt/io/file.hpp"
#include "flopwatt/model/read_config.hpp"

namespace flopwatt::engine {
namespace {

constexpr std::size_t kLargestConfig = std::size_t{64} << 20U;

struct TextFile {
  std::string path, text;
};

/// FOLDER/NAME/*.json, sorted; none where the folder has no such part.
Result<std::vector<TextFile>> json_files(const std::string& folder, std::string_view part) {
  std::vector<TextFile> files;
  const std::string path = folder + '/' + std::string{part};
  if (!io::is_folder(path)) return files;
  FLOPWATT_TRY(const auto entries, io::list_folder(path));
  for (const io::FolderEntry& entry : entries) {
    if (entry.is_folder || !entry.name.ends_with(".json")) continue;
    FLOPWATT_TRY(std::string text, io::read_file(path + '/' + entry.name, {.max_bytes = kLargestConfig}));
    files.push_back({path + '/' + entry.name, std::move(text)});
  }
  return files;
}

bool names_a_path(const std::string& word) {
  return word.starts_with('/') || word.starts_with("./") || word.starts_with("../") || word.ends_with(".json") ||
         io::exists(word);
}

/// The same result; an error that does not say where is about `option`.
template <class T>
Result<T> at(std::string_view option, Result<T> result) {
  if (!result && result.error().where.empty()) result.error().where = option;
  return result;
}

/// Without case, blanks, dashes and underscores.
std::string bare(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c != ' ' && c != '-' && c != '_') out += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  }
  return out;
}

}  // namespace

Result<Facts> Facts::load(const std::vector<std::string>& folders) {
  Facts facts;
  facts.models_ = model::Catalogue::builtin();
  std::vector<device::Document> shipped;
  std::vector<device::Document> overriding;
  for (const device::EmbeddedFile& file : device::embedded_files()) {
    shipped.push_back({std::string{file.name}, std::string{file.content}});
  }
  for (const std::string& folder : folders) {
    if (!io::is_folder(folder)) return fail(Errc::bad_data, "no such folder", folder, "check --data and FLOPWATT_DATA");
    FLOPWATT_TRY(std::vector<TextFile> devices, json_files(folder, "devices"));
    for (TextFile& file : devices) overriding.push_back({std::move(file.path), std::move(file.text)});
    FLOPWATT_TRY(const std::vector<TextFile> models, json_files(folder, "models"));
    for (const TextFile& file : models) FLOPWATT_TRY_VOID(facts.models_.add(file.text, file.path));
    FLOPWATT_TRY(const std::vector<TextFile> calibrations, json_files(folder, "calibrations"));
    for (const TextFile& file : calibrations) {
      FLOPWATT_TRY(power::Calibration calibration, power::read_calibration(file.text, file.path));
      facts.calibrations_.insert(facts.calibrations_.begin(), {std::move(calibration), file.path});
    }
  }
  FLOPWATT_TRY(facts.devices_, device::Catalogue::parse(shipped, overriding));
  return facts;
}

Result<model::Architecture> Facts::model(const std::string& word, const std::string& as_family) const {
  std::string path = word;
  if (io::is_folder(word)) {
    path += "/config.json";
    // A folder of the working directory may share its name with a model of the catalogue.
    if (!io::exists(path) && models_.find_entry(word)) path.clear();
  } else if (!names_a_path(word)) {
    path.clear();
  }
  if (!path.empty()) {
    FLOPWATT_TRY(const std::string text, io::read_file(path, {.max_bytes = kLargestConfig}));
    return model::read_config(text, path, {.as_family = as_family, .name = word});
  }
  if (as_family.empty()) return at("MODEL", models_.find(word));
  FLOPWATT_TRY(const model::Catalogue::Entry* entry, at("MODEL", models_.find_entry(word)));
  return model::read_config(entry->config, entry->name, {.as_family = as_family, .name = entry->name});
}

Result<device::Device> Facts::device(const DeviceWords& words, units::Precision dtype) const {
  if (words.name.empty()) {
    if (words.given.empty()) {
      return fail(Errc::usage, "is missing", "--device", "name a device, or describe one by --peak-tflops");
    }
    return device::make_custom(dtype, words.given);
  }
  if (!words.given.empty() && devices_.find_all(words.name).empty()) {
    FLOPWATT_TRY(device::Device device, device::make_custom(dtype, words.given));
    device.name = device.family = words.name;
    return device;
  }
  FLOPWATT_TRY(device::Device device, at("--device", devices_.resolve(words.name)));
  return words.given.empty() ? device : device::with_given(std::move(device), dtype, words.given);
}

std::optional<FoundCalibration> Facts::calibration(const device::Device& device) const {
  for (const FoundCalibration& found : calibrations_) {
    if (same_name(found.calibration.device, device.name)) return found;
  }
  for (const FoundCalibration& found : calibrations_) {
    if (belongs_to(found.calibration, device)) return found;
  }
  if (auto shipped = power::shipped_calibration(device.name, device.family)) {
    return FoundCalibration{std::move(*shipped), "shipped"};
  }
  return std::nullopt;
}

Result<device::Peak> peak_of(const device::Device& device, units::Precision dtype) {
  return at("--device", device::peak(device, dtype));
}

Result<FoundCalibration> read_calibration_file(const std::string& path) {
  FLOPWATT_TRY(const std::string text, io::read_file(path, {.max_bytes = kLargestConfig}));
  FLOPWATT_TRY(power::Calibration calibration, power::read_calibration(text, path));
  return FoundCalibration{std::move(calibration), path};
}

bool same_name(std::string_view a, std::string_view b) { return bare(a) == bare(b); }

bool belongs_to(const power::Calibration& calibration, const device::Device& device) {
  return same_name(calibration.device, device.name) || same_name(calibration.device, device.family);
}

}  // namespace flopwatt::engine
