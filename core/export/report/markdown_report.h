// A report as Markdown, short enough for a pull request: the rows and figures that come first, the rest counted. The
// timeline has no place in it.
#pragma once

#include <cstddef>
#include <string>

#include "core/export/report/report.h"

namespace accelscope {

struct MarkdownLimits {
  std::size_t rows = 8;         // of a table
  std::size_t columns = 6;      // of a table
  std::size_t cell_bytes = 80;  // of a cell; longer texts are cut in their middle
  std::size_t figures = 16;
  std::size_t note_bytes = 200;
};

[[nodiscard]] std::string markdown_report(const Report& report, const MarkdownLimits& limits = {});

}  // namespace accelscope
