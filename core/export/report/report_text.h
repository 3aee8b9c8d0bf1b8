// Texts of reports made safe: names come from files that anybody may have written. What plain_text() leaves out is left
// out of all of them.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"

namespace accelscope {

// Text for elements and for attributes in quotes.
[[nodiscard]] std::string html_text(std::string_view text);

// A JSON text that may stand in a script element: it holds no <, > or &.
[[nodiscard]] std::string script_json_text(std::string_view text);

// Text for a line of Markdown or a cell of its tables: nothing in it is markup, a mention of a user or of an issue.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace accelscope
