#include <algorithm>

#include "core/listing/listings.h"
#include "core/sql/tables/tables.h"

namespace accelscope::sql {
namespace {

constexpr const char* kKeyAlias = "id";

// Those of the listing, and the key under its other name.
std::vector<RowColumn> columns_of(const listing::ListingKind& kind,
                                  const std::vector<listing::ListingColumn>& columns) {
  std::vector<RowColumn> all;
  for (const listing::ListingColumn& column : columns) {
    const bool is_key = column.name == kind.facts.key;
    all.push_back({column.name, is_key ? "INTEGER" : column.unit.empty() ? "" : "NUMERIC", is_key});
  }
  const auto is_alias = [](const listing::ListingColumn& column) { return column.name == kKeyAlias; };
  if (!kind.facts.key.empty() && std::none_of(columns.begin(), columns.end(), is_alias))
    all.push_back({kKeyAlias, "INTEGER", true, true});
  return all;
}

class ListingRows final : public Rows {
 public:
  ListingRows(const listing::ListingKind& kind, listing::Listing listing)
      : columns_(columns_of(kind, listing.columns)),
        width_(listing.columns.size()),
        values_(width_, std::move(listing.rows.cells)) {
    while (key_ < width_ && columns_[key_].name != kind.facts.key) ++key_;
  }
  [[nodiscard]] std::size_t size() const override { return values_.size(); }
  void result(sqlite3_context* context, std::size_t row, std::size_t column) const override {
    values_.result(context, row, column < width_ ? column : key_);
  }
  [[nodiscard]] std::int64_t key(std::size_t row, std::size_t) const override { return values_.key(row, key_); }
  [[nodiscard]] std::vector<RowColumn> columns() const override { return columns_; }

 private:
  std::vector<RowColumn> columns_;
  std::size_t width_, key_ = 0;
  ValueRows values_;
};

Result<std::shared_ptr<const Rows>> make_listing(const listing::ListingKind& kind, Context& context) {
  listing::ListingRequest request{.filter = context.mask ? context.mask->filter() : EventFilter{}, .all_rows = true};
  if (!kind.facts.by.empty()) request.by.emplace_back(kind.facts.by);
  QueryContext query = context.query();
  query.mask = context.mask;
  auto listing = TRY(kind.make(query, request));
  return std::shared_ptr<const Rows>(std::make_shared<ListingRows>(kind, std::move(listing)));
}

}  // namespace

std::vector<RowTableSpec> listing_tables() {
  std::vector<RowTableSpec> tables;
  for (const listing::ListingKind& kind : listing::listing_kinds()) {
    const auto number = static_cast<std::size_t>(&kind - listing::listing_kinds().data());
    tables.push_back({.name = listing::table_name(kind),
                      .columns = columns_of(kind, listing::listing_columns()[number]),
                      .row_estimate = kind.facts.rows,
                      .make = [&kind](Context& context) { return make_listing(kind, context); },
                      .changes = kind.facts.has_markers,
                      .varies = kind.facts.varies,
                      .on_demand = kind.facts.table.empty()});
  }
  return tables;
}

}  // namespace accelscope::sql
