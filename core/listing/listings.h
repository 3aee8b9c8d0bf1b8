// The listings that there are, a row each: under these names the command line, SQL, MCP and reports know them.
//
// To add one: a function that makes it out of an analysis of core/analysis, and its row in listings.cpp.
#pragma once

#include <span>
#include <string_view>

#include "core/listing/base/listing.h"

namespace accelscope::listing {

[[nodiscard]] std::span<const ListingKind> listing_kinds() noexcept;
[[nodiscard]] const ListingKind* find_listing(std::string_view name) noexcept;  // null: none of this name
[[nodiscard]] std::string table_name(const ListingKind& kind);                  // in SQL
// Those that it always has, in the order of listing_kinds(): as of a session without events.
[[nodiscard]] const std::vector<std::vector<ListingColumn>>& listing_columns();

}  // namespace accelscope::listing
