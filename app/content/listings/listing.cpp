#include "app/content/listings/listing.h"

#include <cassert>
#include <iterator>

#include "core/search/filter_mask.h"

namespace accelscope::app {

Listing::Listing(std::vector<ListingColumn> all) : columns(std::move(all)) {
  for (const ListingColumn& column : columns) rows.columns.push_back(column.name);
}

void Listing::add(std::vector<SqlValue> cells, ListingTarget target) {
  assert(cells.size() == columns.size());
  rows.cells.insert(rows.cells.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  targets.push_back(std::move(target));
}

Result<QueryContext> masked(const QueryContext& query, const EventFilter& filter) {
  QueryContext filtered = query;
  if (!filter.needs_mask()) return filtered;
  auto mask = event_mask(query, filter);
  if (!mask) return mask.error();
  filtered.mask = std::move(*mask);
  return filtered;
}

}  // namespace accelscope::app
