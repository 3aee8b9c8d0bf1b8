#include "app/content/listings/listings.h"

#include <algorithm>
#include <array>

#include "app/content/listings/incidents.h"
#include "app/content/listings/rooflines.h"

namespace accelscope::app {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
    {"memory-levels", "What went from memory to memory, how fast, of what peak, and which path limits",
     list_memory_levels},
    {"roofline", "Operations against bytes by --by name, layer or line, with what the device allows", list_roofline,
     true},
    {"peaks", "What the devices can do at most, where that comes from, and what was entered", list_peaks},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

}  // namespace accelscope::app
