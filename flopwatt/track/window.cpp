#include "flopwatt/track/window.hpp"

namespace flopwatt::track {

std::string_view key(Doubt doubt) noexcept {
  switch (doubt) {
    case Doubt::above_peak:
      return "above_peak";
    case Doubt::above_bandwidth:
      return "above_bandwidth";
    case Doubt::unsynchronized:
      return "unsynchronized";
    case Doubt::slots_counted:
      return "slots_counted";
    case Doubt::estimated_flops:
      return "estimated_flops";
  }
  return "unknown";
}

std::string_view text(Doubt doubt) noexcept {
  switch (doubt) {
    case Doubt::above_peak:
      return "As many FLOPs a second as the peak, or more: the clock stopped before the device was done, tokens of "
             "several ranks met the peak of one device, or the peak is that of another device, precision or path.";
    case Doubt::above_bandwidth:
      return "More bytes a second than the memory moves: a clock that stopped too early, another device, or weights "
             "that stay in a cache.";
    case Doubt::unsynchronized:
      return "Nothing waits for the device before the clock is read: times may be those of launches; give "
             "`synchronize`.";
    case Doubt::slots_counted:
      return "Every position counts as a token, padding included: tell `non_padding` to see what it costs.";
    case Doubt::estimated_flops:
      return "The FLOPs are an estimate from the number of parameters, without attention.";
  }
  return {};
}

}  // namespace flopwatt::track
