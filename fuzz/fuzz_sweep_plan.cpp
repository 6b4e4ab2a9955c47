// Any bytes: a plan whose lists are filled and whose limits are in order, or an error at the file.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "flopwatt/base/check.hpp"
#include "flopwatt/sweep/configuration.hpp"
#include "flopwatt/sweep/plan.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace flopwatt;
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  const Result<sweep::Plan> plan = sweep::read_plan(text, "fuzz.toml");
  if (!plan) {
    FLOPWATT_CHECK(plan.error().code == Errc::bad_data && plan.error().message().starts_with("fuzz.toml"));
    return 0;
  }
  FLOPWATT_CHECK(!plan->models.empty() && !plan->dtypes.empty() && !plan->batches.empty() && !plan->sequences.empty());
  FLOPWATT_CHECK(plan->protocol.min_samples <= plan->protocol.max_samples && plan->protocol.repeats >= 1);
  if (plan->models.size() * plan->dtypes.size() * plan->batches.size() * plan->sequences.size() > 1000) return 0;
  std::vector<sweep::Model> models;
  for (const std::string& word : plan->models) models.push_back({word, word, "{}", ""});
  const auto all = sweep::expand(*plan, models);
  FLOPWATT_CHECK(all && !all->empty());
  const auto again = sweep::read_configuration(all->front().canonical(), "fuzz");
  FLOPWATT_CHECK(again && *again == all->front());
  return 0;
}
