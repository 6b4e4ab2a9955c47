#pragma once

#include <string>

#include "flopwatt/telemetry/source.hpp"

namespace flopwatt::telemetry {

struct PowercapOptions {
  std::string root = "/sys/class/powercap";
};

/// The energy counters of Linux's powercap framework (RAPL of Intel and AMD processors), one device a domain.
///
/// Domains overlap, and part_of says how: `core` and `uncore` lie in their package; a package and its `dram`, which is
/// metered beside it (Intel SDM, volume 3, 15.10), lie in `psys` where that exists; a domain that the MMIO interface
/// lists again is part of the first.  Only the outermost may be added.
///
/// Counters are 32 bits of a unit near 61 µJ and wrap within minutes under load; `max_energy_range_uj` says where, and
/// the limits bound how often.  Since Linux 5.10 only root may read them (CVE-2020-8694): a domain that may not be read
/// is unreadable with its path, and if none may be, so is the source.
[[nodiscard]] OpenedSource open_powercap(const PowercapOptions& options = {});

}  // namespace flopwatt::telemetry
