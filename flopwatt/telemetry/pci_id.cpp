#include "flopwatt/telemetry/pci_id.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdint>

namespace flopwatt::telemetry {
namespace {

std::optional<std::uint32_t> hexadecimal(std::string_view text, std::uint32_t most) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

}  // namespace

std::optional<std::string> normal_pci_id(std::string_view text) {
  std::uint32_t domain = 0;
  const std::size_t first = text.find(':');
  if (first == std::string_view::npos) return std::nullopt;
  if (text.find(':', first + 1) != std::string_view::npos) {
    const auto value = hexadecimal(text.substr(0, first), 0xFFFFFFFF);
    if (!value) return std::nullopt;
    domain = *value;
    text.remove_prefix(first + 1);
  }
  const std::size_t colon = text.find(':');
  const std::size_t dot = text.find('.');
  if (dot == std::string_view::npos || dot < colon) return std::nullopt;
  const auto bus = hexadecimal(text.substr(0, colon), 0xFF);
  const auto device = hexadecimal(text.substr(colon + 1, dot - colon - 1), 0x1F);
  const auto function = hexadecimal(text.substr(dot + 1), 7);
  if (!bus || !device || !function) return std::nullopt;
  return fmt::format("{:08x}:{:02x}:{:02x}.{:x}", domain, *bus, *device, *function);
}

}  // namespace flopwatt::telemetry
