#include "flopwatt/power/prior.hpp"

#include <limits>
#include <nlohmann/json.hpp>

#include "flopwatt/base/version.hpp"
#include "flopwatt/io/json.hpp"
#include "flopwatt/io/json_reader.hpp"
#include "flopwatt/io/json_writer.hpp"
#include "flopwatt/power/calibration.hpp"
#include "flopwatt/power/embedded.hpp"

namespace flopwatt::power {

Result<DevicePrior> read_prior(std::string_view text, std::string_view where) {
  FLOPWATT_TRY(const io::Json document, io::parse_json(text, where));
  FLOPWATT_TRY(const io::JsonObject root, io::JsonObject::root(document, where));
  DevicePrior prior;
  const auto positive = [&](std::string_view key) {
    return root.require_number(key, std::numeric_limits<double>::min());
  };
  FLOPWATT_TRY(const std::int64_t schema, root.require_int("schema"));
  if (schema != kCalibrationSchema) return fail(root.error("schema", "is of another version"));
  FLOPWATT_TRY(prior.idle_over_limit, positive("idle_over_limit"));
  FLOPWATT_TRY(prior.floor_over_idle, positive("floor_over_idle"));
  FLOPWATT_TRY(prior.compute_over_limit, positive("compute_over_limit"));
  FLOPWATT_TRY(prior.memory_over_limit, positive("memory_over_limit"));
  FLOPWATT_TRY(prior.activation_factor, positive("activation_factor"));
  FLOPWATT_TRY(prior.cap_over_limit, positive("cap_over_limit"));
  FLOPWATT_TRY(prior.softness_over_limit, positive("softness_over_limit"));
  FLOPWATT_TRY(prior.traffic_per_mbu_byte, positive("traffic_per_mbu_byte"));
  FLOPWATT_TRY(prior.devices, root.require_strings("devices"));
  FLOPWATT_TRY(prior.error_percentiles_pct, root.require_numbers("error_percentiles_pct", 0));
  if (prior.error_percentiles_pct.size() != 100) {
    return fail(root.error("error_percentiles_pct", "expected the percentiles 1 to 100"));
  }
  return prior;
}

std::string write_prior(const DevicePrior& prior) {
  io::JsonWriter json;
  json.begin_object()
      .member("flopwatt", base::kVersion)
      .member("schema", kCalibrationSchema)
      .member("idle_over_limit", prior.idle_over_limit)
      .member("floor_over_idle", prior.floor_over_idle)
      .member("compute_over_limit", prior.compute_over_limit)
      .member("memory_over_limit", prior.memory_over_limit)
      .member("activation_factor", prior.activation_factor)
      .member("cap_over_limit", prior.cap_over_limit)
      .member("softness_over_limit", prior.softness_over_limit)
      .member("traffic_per_mbu_byte", prior.traffic_per_mbu_byte);
  json.key("devices").begin_row();
  for (const std::string& device : prior.devices) json.value(device);
  json.end_array();
  json.key("error_percentiles_pct").begin_row();
  for (const double percentile : prior.error_percentiles_pct) json.value(percentile);
  json.end_array().end_object();
  return std::move(json).take();
}

Result<DevicePrior> shipped_prior() {
  for (const EmbeddedFile& file : embedded_files()) {
    if (file.name == "prior.json") return read_prior(file.content, file.name);
  }
  return fail(Errc::internal, "no prior is compiled in");
}

}  // namespace flopwatt::power
