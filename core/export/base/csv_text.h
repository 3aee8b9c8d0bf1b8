// Cells of CSV by RFC 4180.
#pragma once

#include <string>
#include <string_view>

namespace accelscope {

// In quotes where it holds a comma, a quote or a line end, or is empty and `quote_empty` is asked for.
void append_csv_cell(std::string& out, std::string_view text, bool quote_empty = false);

}  // namespace accelscope
