#pragma once

#include <string>
#include <string_view>

#include "flopwatt/base/result.hpp"
#include "flopwatt/units/quantity.hpp"

namespace flopwatt::units {

/// Readers of quantities with a unit, as people write them: "3.35 TB/s", "80 GiB", "400W", "1.2 s", "312 TFLOP/s".
/// SI prefixes are decimal (GB = 10^9), IEC prefixes binary (GiB = 2^30); a bare number, a bare prefix ("80 G") and
/// an ambiguous unit ("Gbps": bits or bytes?) are refused with Errc::usage.  NaN and infinities are refused.
[[nodiscard]] Result<Duration> parse_duration(std::string_view text);    ///< ns us ms s min h d
[[nodiscard]] Result<Energy> parse_energy(std::string_view text);        ///< mJ J kJ MJ Wh kWh MWh
[[nodiscard]] Result<Power> parse_power(std::string_view text);          ///< mW W kW MW
[[nodiscard]] Result<DataSize> parse_data_size(std::string_view text);   ///< B, k/M/G/T/P B, Ki/Mi/Gi/Ti/Pi B
[[nodiscard]] Result<Bandwidth> parse_bandwidth(std::string_view text);  ///< the above per second
[[nodiscard]] Result<FlopRate> parse_flop_rate(std::string_view text);   ///< k/M/G/T/P/E FLOP/s, also "TFLOPS"

/// Printers for people: `digits` significant digits and the prefix that keeps the number between 1 and 1000.
/// Machine formats never use these: they carry base units.
[[nodiscard]] std::string to_text(Duration value, int digits = 4);
[[nodiscard]] std::string to_text(Energy value, int digits = 4);  ///< J, kJ, MJ, GJ, …
[[nodiscard]] std::string to_text(Power value, int digits = 4);
[[nodiscard]] std::string to_text(DataSize value, int digits = 4);  ///< decimal prefixes
[[nodiscard]] std::string to_text(Bandwidth value, int digits = 4);
[[nodiscard]] std::string to_text(FlopCount value, int digits = 4);  ///< "9.262 TFLOP"
[[nodiscard]] std::string to_text(FlopRate value, int digits = 4);
[[nodiscard]] std::string to_text(TokenRate value, int digits = 4);  ///< "12.3 ktoken/s" is never written: no prefix
/// With binary prefixes: "80 GiB".
[[nodiscard]] std::string to_binary_text(DataSize value, int digits = 4);

}  // namespace flopwatt::units
