#include "flopwatt/device/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "flopwatt/device/embedded.hpp"
#include "flopwatt/device/family.hpp"
#include "flopwatt/device/reader.hpp"
#include "flopwatt/device/words.hpp"

namespace flopwatt::device {
namespace {

constexpr std::size_t kLongestName = 200;  // no device is called anything longer
constexpr std::string_view kDescribeIt = "give --peak-tflops, --mem-bw-gbs and --tdp-w to describe it";

}  // namespace

Result<Catalogue> Catalogue::shipped() {
  std::vector<Document> documents;
  for (const EmbeddedFile& file : embedded_files()) {
    documents.push_back({fmt::format("data/devices/{}", file.name), std::string{file.content}});
  }
  return parse(documents);
}

Result<Catalogue> Catalogue::parse(std::span<const Document> documents, std::span<const Document> overriding) {
  Catalogue catalogue;
  const auto add = [&catalogue](const Document& document, std::size_t replaceable) -> Result<void> {
    FLOPWATT_TRY(std::vector<Device> devices, read_devices(document.text, document.name));
    for (Device& device : devices) {
      const auto same = std::find_if(catalogue.devices_.begin(),
                                     catalogue.devices_.begin() + static_cast<std::ptrdiff_t>(replaceable),
                                     [&device](const Device& known) { return known.name == device.name; });
      const auto at = static_cast<std::size_t>(same - catalogue.devices_.begin());
      if (at < replaceable) {
        *same = std::move(device);
        catalogue.files_[at] = document.name;
      } else {
        catalogue.devices_.push_back(std::move(device));
        catalogue.files_.push_back(document.name);
      }
    }
    return {};
  };
  for (const Document& document : documents) {
    FLOPWATT_TRY_VOID(add(document, 0));
  }
  const std::size_t replaceable = catalogue.devices_.size();
  for (const Document& document : overriding) {
    FLOPWATT_TRY_VOID(add(document, replaceable));
  }
  FLOPWATT_TRY_VOID(catalogue.index_names());
  return catalogue;
}

Result<void> Catalogue::index_names() {
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    const Device& device = devices_[i];
    std::vector<std::string> names{device.name};
    names.insert(names.end(), device.aliases.begin(), device.aliases.end());
    names.insert(names.end(), device.driver_names.begin(), device.driver_names.end());
    for (const std::string& name : names) {
      Spelling spelling{without_vendor(words(name), device.vendor), i};
      for (const Spelling& other : spellings_) {
        if (other.words != spelling.words) continue;
        if (other.device == i) break;
        return fail(Errc::bad_data,
                    fmt::format("\"{}\" names two devices, {} and {}", name, devices_[other.device].name, device.name),
                    files_[i], "give every name to one device");
      }
      spellings_.push_back(std::move(spelling));
    }
  }
  return {};
}

std::vector<const Device*> Catalogue::find_all(std::string_view name) const {
  std::vector<const Device*> found;
  if (name.size() > kLongestName || names_partition(name)) return found;
  const std::vector<std::string> asked = words(name);
  if (asked.empty()) return found;
  for (const Spelling& spelling : spellings_) {
    const Device& device = devices_[spelling.device];
    if (spelling.words == without_vendor(asked, device.vendor)) return {&device};
  }
  for (const Spelling& spelling : spellings_) {
    const Device& device = devices_[spelling.device];
    if (!found.empty() && found.back() == &device) continue;
    const std::vector<std::string> query = without_vendor(asked, device.vendor);
    if (contains(query, without_vendor(words(device.family), device.vendor)) && contains(spelling.words, query)) {
      found.push_back(&device);
    }
  }
  return found;
}

Result<const Device*> Catalogue::find(std::string_view name) const {
  const std::vector<const Device*> found = find_all(name);
  if (found.size() == 1) return found.front();
  if (found.empty()) return fail(unknown(name));
  std::vector<std::string_view> names;
  for (const Device* device : found) names.push_back(device->name);
  return fail(Errc::usage,
              fmt::format("device \"{}\" is one of several: {}", base::excerpt(name), fmt::join(names, ", ")), {},
              "name one of them");
}

Result<Device> Catalogue::resolve(std::string_view name) const {
  const std::vector<const Device*> found = find_all(name);
  if (found.empty()) return fail(unknown(name));
  if (found.size() == 1) return *found.front();
  return common(found);
}

Error Catalogue::unknown(std::string_view name) const {
  if (words(name).empty()) return Error{Errc::usage, "the device has no name", {}, "name a device"};
  if (names_partition(name)) {
    return Error{
        Errc::usage,
        fmt::format("device \"{}\" is a partition of a GPU: the catalogue has whole devices only, and a share of "
                    "their figures is not what a partition gets",
                    base::excerpt(name)),
        {},
        std::string{kDescribeIt}};
  }
  const std::vector<std::string> close = close_names(name);
  std::string what = fmt::format("unknown device \"{}\"", base::excerpt(name));
  if (!close.empty()) what += fmt::format(" (not {})", fmt::join(close, ", "));
  return Error{
      Errc::usage, std::move(what), {}, fmt::format("see `flopwatt devices` for the known ones, or {}", kDescribeIt)};
}

std::string Catalogue::not_here(std::string_view name) const {
  const std::string shown = fmt::format("\"{}\" is not in the device catalogue", base::excerpt(name));
  if (names_partition(name)) return shown + " (it is a partition of a GPU; the catalogue has whole devices only)";
  const std::vector<std::string> close = close_names(name, 1);
  return shown + (close.empty() ? std::string{" (nor is a name like it; `flopwatt devices` lists what is)"}
                                : fmt::format(" (did you mean {}?)", close.front()));
}

std::vector<std::string> Catalogue::close_names(std::string_view name, std::size_t limit) const {
  if (name.size() > kLongestName) return {};
  const std::vector<std::string> asked = words(name);
  // Cost: edits of the joined words; a shared word with a digit (a model number) makes a name close in any case.
  const auto joined = [](const std::vector<std::string>& parts) { return fmt::format("{}", fmt::join(parts, "")); };
  std::vector<std::size_t> cost(devices_.size(), std::numeric_limits<std::size_t>::max());
  for (const Spelling& spelling : spellings_) {
    const std::vector<std::string> query = without_vendor(asked, devices_[spelling.device].vendor);
    if (query.empty()) continue;
    const bool shares = std::any_of(query.begin(), query.end(), [&spelling](const std::string& word) {
      return word.find_first_of("0123456789") != std::string::npos && !word.ends_with("gb") &&
             std::binary_search(spelling.words.begin(), spelling.words.end(), word);
    });
    const std::size_t edits = edit_distance(joined(query), joined(spelling.words));
    if (shares || edits <= 1 + joined(query).size() / 4) {
      cost[spelling.device] = std::min(cost[spelling.device], edits);
    }
  }
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    if (cost[i] != std::numeric_limits<std::size_t>::max()) order.push_back(i);
  }
  std::sort(order.begin(), order.end(),
            [&cost](std::size_t a, std::size_t b) { return cost[a] != cost[b] ? cost[a] < cost[b] : a < b; });
  if (order.size() > limit) order.resize(limit);
  std::vector<std::string> names;
  for (const std::size_t i : order) names.push_back(devices_[i].name);
  return names;
}

}  // namespace flopwatt::device
