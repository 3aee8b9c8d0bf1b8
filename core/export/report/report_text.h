// Texts of reports made safe: names come from files that anybody may have written.
#pragma once

#include <string>
#include <string_view>

namespace accelscope {

// What can be shown as it is: what is no UTF-8, control characters and those that turn the direction of writing become
// U+FFFD; line ends and tabs become blanks.
[[nodiscard]] std::string plain_text(std::string_view text);

// Text for elements and for attributes in quotes.
[[nodiscard]] std::string html_text(std::string_view text);

// A JSON text that may stand in a script element: it holds no <, > or &.
[[nodiscard]] std::string script_json_text(std::string_view text);

// Text for a line of Markdown or a cell of its tables: nothing in it is markup, a mention of a user or of an issue.
[[nodiscard]] std::string markdown_text(std::string_view text);

}  // namespace accelscope
