#include "flopwatt/engine/devices.hpp"

#include <fmt/core.h>

#include "flopwatt/device/derive.hpp"

namespace flopwatt::engine {

Result<answers::Devices> devices(const Facts& facts, const DevicesRequest& request) {
  answers::Devices answer;
  if (!request.derive.empty()) {
    FLOPWATT_TRY(const device::DeriveRequest derive, device::parse_derive(request.derive));
    FLOPWATT_TRY(device::Device derived, device::derive(derive));
    answer.devices.push_back(std::move(derived));
    answer.detailed = true;
    answer.asked = request.derive;
  } else if (!request.name.empty()) {
    const auto variants = facts.devices().find_all(request.name);
    if (variants.empty()) return fail(facts.devices().find(request.name).error());
    for (const device::Device* device : variants) answer.devices.push_back(*device);
    answer.detailed = variants.size() == 1;
    answer.asked = request.name;
    if (!answer.detailed) {
      answer.notes.push_back(fmt::format("'{}' fits these {} variants; name one of them to see its sources.",
                                         request.name, variants.size()));
    }
  } else {
    answer.devices.assign(facts.devices().devices().begin(), facts.devices().devices().end());
  }
  return answer;
}

}  // namespace flopwatt::engine
