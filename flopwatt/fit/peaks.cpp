#include "flopwatt/fit/fit.hpp"

namespace flopwatt::fit {

std::optional<PeaksFrom> parse_peaks_from(std::string_view text) noexcept {
  if (text == "recorded") return PeaksFrom::recorded;
  if (text == "catalogue") return PeaksFrom::catalogue;
  if (text == "audited") return PeaksFrom::audited;
  return std::nullopt;  // a file name: the caller reads it
}

}  // namespace flopwatt::fit
