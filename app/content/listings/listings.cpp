#include "app/content/listings/listings.h"

#include <algorithm>
#include <array>

#include "app/content/listings/incidents.h"
#include "app/content/listings/statistics.h"

namespace accelscope::app {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
    {"statistics", "Count, total, mean and quantiles of events by the columns of --by, of the value of --value",
     list_statistics, true, true},
    {"device-stats", "Zones by core and processor, in cycles and ns", list_device_stats},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

}  // namespace accelscope::app
