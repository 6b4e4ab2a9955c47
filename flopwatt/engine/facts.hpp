#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "flopwatt/answers/power.hpp"
#include "flopwatt/base/result.hpp"
#include "flopwatt/device/catalogue.hpp"
#include "flopwatt/device/custom.hpp"
#include "flopwatt/device/peak.hpp"
#include "flopwatt/model/catalogue.hpp"
#include "flopwatt/power/calibration.hpp"

namespace flopwatt::engine {

/// A device as the caller describes it: a name of the catalogue, figures of its own, or both.
struct DeviceWords {
  std::string name;  ///< empty, or unknown to the catalogue: the figures describe it alone
  device::GivenFigures given;
};

/// A calibration and where it was found.
struct FoundCalibration {
  power::Calibration calibration;
  std::string origin;  ///< "shipped", or the path of the file
};

/// What is known before a question is asked: devices, models and calibrations, those that ship and the caller's own.
class Facts {
 public:
  /// `folders` extend and override what ships, the later ones first: each may hold devices/*.json, models/*.json and
  /// calibrations/*.json.  Errc::bad_data for a folder that is missing or a file that is wrong.
  [[nodiscard]] static Result<Facts> load(const std::vector<std::string>& folders);

  [[nodiscard]] const device::Catalogue& devices() const noexcept { return devices_; }
  [[nodiscard]] const model::Catalogue& models() const noexcept { return models_; }

  /// A path of a config.json, a folder that holds one, or a name of the catalogue.  `as_family` insists on a reader.
  /// Errc::bad_data for a missing or wrong file, Errc::usage for an unknown name.
  [[nodiscard]] Result<model::Architecture> model(const std::string& word, const std::string& as_family = {}) const;

  /// Errc::usage for an unknown or ambiguous name, or no description at all.
  [[nodiscard]] Result<device::Device> device(const DeviceWords& words, units::Precision dtype) const;

  /// The calibration of a device or of its family; nothing where there is none.
  [[nodiscard]] std::optional<FoundCalibration> calibration(const device::Device& device) const;

 private:
  device::Catalogue devices_;
  model::Catalogue models_;
  std::vector<FoundCalibration> calibrations_;  ///< of the caller's folders, the first one wins
};

/// The peak of the device for a dtype; errors name --device.
[[nodiscard]] Result<device::Peak> peak_of(const device::Device& device, units::Precision dtype);

/// Reads a calibration file.
[[nodiscard]] Result<FoundCalibration> read_calibration_file(const std::string& path);

/// Whether two names differ in case, blanks, dashes and underscores at most.
[[nodiscard]] bool same_name(std::string_view a, std::string_view b);

/// Whether the calibration was measured on this device or on its family.
[[nodiscard]] bool belongs_to(const power::Calibration& calibration, const device::Device& device);

}  // namespace flopwatt::engine
