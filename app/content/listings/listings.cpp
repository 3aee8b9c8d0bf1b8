#include "app/content/listings/listings.h"

#include <algorithm>
#include <array>

#include "app/content/listings/collectives.h"
#include "app/content/listings/incidents.h"

namespace accelscope::app {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"collectives", "What ranks do together: time, bandwidth and outliers of each operation", list_collectives},
    {"collective-instances", "Every instance of these, with the rank that came last", list_collective_instances},
    {"ranks", "How late each rank came to them, and how long others waited for it", list_ranks},
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

}  // namespace accelscope::app
