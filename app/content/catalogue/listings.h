// The listings that there are, a row each, for the command line and its help.
#pragma once

#include <span>
#include <string_view>

#include "app/content/listings/base/listing.h"

namespace accelscope::app {

[[nodiscard]] std::span<const ListingKind> listing_kinds() noexcept;
[[nodiscard]] const ListingKind* find_listing(std::string_view name) noexcept;  // null: none of this name

}  // namespace accelscope::app
