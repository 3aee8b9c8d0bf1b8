#include "app/content/listings/listings.h"

#include <algorithm>
#include <array>

#include "app/content/listings/incidents.h"
#include "app/content/listings/layers.h"

namespace accelscope::app {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
    {"layers", "Layers, operators, host stacks or zones as a tree; --by KIND,DEPTH", list_layers, true},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

}  // namespace accelscope::app
