#include "flopwatt/power/traffic.hpp"

namespace flopwatt::power {

Traffic traffic(const work::Totals& totals, units::Duration step_time) noexcept {
  using work::ByteKind;
  const auto rate = [&](units::Count bytes) { return bytes.to_double() * units::byte / step_time; };
  const work::Bytes& bytes = totals.bytes;
  return {rate(bytes[ByteKind::weights] + bytes[ByteKind::gradients] + bytes[ByteKind::optimizer]),
          rate(bytes[ByteKind::activations] + bytes[ByteKind::kv_cache])};
}

}  // namespace flopwatt::power
