#include "app/content/listings/listings.h"

#include <algorithm>
#include <array>

#include "app/content/listings/incidents.h"
#include "app/content/listings/warnings.h"

namespace accelscope::app {
namespace {

constexpr std::array kListings = std::to_array<ListingKind>({
    {"incidents", "Errors, throttling and warnings that have a time", list_incidents},
    {"warnings", "What costs time that could be saved, ranked by what mending it would save at most", list_warnings},
    {"errors", "Of every reported error what ran around it on each engine, queue and stream", list_errors},
});

}  // namespace

std::span<const ListingKind> listing_kinds() noexcept { return kListings; }

const ListingKind* find_listing(std::string_view name) noexcept {
  const auto found =
      std::find_if(kListings.begin(), kListings.end(), [&](const auto& each) { return each.name == name; });
  return found == kListings.end() ? nullptr : &*found;
}

}  // namespace accelscope::app
