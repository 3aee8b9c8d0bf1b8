#include "app/export/report/listing_table.h"

#include <algorithm>
#include <type_traits>

#include "app/content/figure_text.h"
#include "core/base/format.h"
#include "core/model/unit.h"
#include "core/names/short_names.h"

namespace accelscope::app {
namespace {

[[nodiscard]] bool is_number(const SqlValue& value) noexcept {
  return std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
}

ReportCell cell_of(const ListingColumn& column, const SqlValue& value, ShortNames& names) {
  ReportCell cell;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    cell.number = static_cast<double>(*whole);
    cell.text = column.unit.empty() ? format_signed(*whole) : format_value(*cell.number, column.unit);
    cell.exact = format_signed(*whole) + (column.unit.empty() ? "" : " " + column.unit);
  } else if (const auto* real = std::get_if<double>(&value)) {
    cell.number = *real;
    cell.text = format_value(*real, column.unit);
    cell.exact = exact_figure(*real, column.unit);
  } else if (const auto* text = std::get_if<std::string>(&value)) {
    cell.text = shorten_middle(column.names ? names.usual(*text) : *text, kReportCellBytes);
    if (cell.text != *text) cell.exact = text->substr(0, 4 * kReportCellBytes);
  } else if (std::holds_alternative<SqlBlob>(value)) {
    cell.text = "(bytes)";
  }
  if (cell.exact == cell.text) cell.exact.clear();
  if (column.bar) cell.bar = cell.number;
  return cell;
}

}  // namespace

ReportTable table_of_listing(const Listing& listing, std::size_t most_rows) {
  const SqlResult& all = listing.rows;
  const std::size_t rows = std::min(all.row_count(), most_rows);
  ReportTable table;
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < listing.columns.size(); ++i) {
    const ListingColumn& column = listing.columns[i];
    bool any = false, numeric = true;
    for (std::size_t row = 0; row < rows; ++row) {
      const SqlValue& value = all.at(row, i);
      if (std::holds_alternative<std::monostate>(value)) continue;
      any = true;
      numeric = numeric && is_number(value);
    }
    if (!any || column.aside) continue;
    shown.push_back(i);
    table.columns.push_back({column.title.empty() ? column.name : column.title, column.explanation, numeric});
  }
  ShortNames names;  // of all columns of names
  for (const std::size_t i : shown) {
    for (std::size_t row = 0; row < rows && listing.columns[i].names; ++row) {
      if (const auto* name = std::get_if<std::string>(&all.at(row, i))) names.add(*name);
    }
  }
  for (std::size_t row = 0; row < rows; ++row) {
    std::vector<ReportCell>& cells = table.rows.emplace_back();
    for (const std::size_t i : shown) cells.push_back(cell_of(listing.columns[i], all.at(row, i), names));
  }
  table.left_out = all.row_count() - rows;
  return table;
}

}  // namespace accelscope::app
