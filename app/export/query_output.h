// Rows of a query as they are printed: a table for people, CSV by RFC 4180 with lines that end in LF, one JSON array of
// objects. All stream: a table takes its widths from the first kSampledRows rows, later values that are wider stick
// out. Long cells of a table are cut on a screen only.
//
//   NULL       NULL in a table, nothing in CSV, null in JSON
//   infinity   inf; 1e999 in JSON, which reads back as infinity
//   blobs      hexadecimal digits: x'00ff' in a table, "00ff" in CSV and JSON
#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/listings/base/listing.h"
#include "core/sql/base/sql.h"

namespace accelscope::app {

inline constexpr std::size_t kSampledRows = 1000;

class QueryOutput : public SqlRowVisitor {
 public:
  // Of the columns that follow, as unit.h has them. People read values in the unit of their size, with the
  // digits that tell; programs get all of them.
  virtual void units(std::vector<std::string> of_columns) { (void)of_columns; }
  [[nodiscard]] virtual bool for_people() const noexcept { return false; }
  virtual void finish() = 0;  // after the last row
};

// format: table, csv or json. The latter two are data: their bytes go out as they are.
[[nodiscard]] constexpr bool is_data(std::string_view format) noexcept { return format == "csv" || format == "json"; }
[[nodiscard]] std::unique_ptr<QueryOutput> make_query_output(std::string_view format, std::ostream& out,
                                                             bool on_screen = false);

// All rows of a listing. For people, names are shortened to what tells them apart.
void print_listing(const Listing& listing, QueryOutput& output);

}  // namespace accelscope::app
