#include "core/listing/base/listing.h"

#include <cassert>
#include <iterator>

namespace accelscope::listing {

Listing::Listing(std::vector<ListingColumn> all) : columns(std::move(all)) {
  for (const ListingColumn& column : columns) rows.columns.push_back(column.name);
}

void Listing::add(std::vector<SqlValue> cells, ListingTarget target) {
  assert(cells.size() == columns.size());
  rows.cells.insert(rows.cells.end(), std::make_move_iterator(cells.begin()), std::make_move_iterator(cells.end()));
  targets.push_back(std::move(target));
}

}  // namespace accelscope::listing
