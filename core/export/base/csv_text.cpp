#include "core/export/base/csv_text.h"

namespace accelscope {

void append_csv_cell(std::string& out, std::string_view text, bool quote_empty) {
  if ((!text.empty() || !quote_empty) && text.find_first_of(",\"\n\r") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

}  // namespace accelscope
