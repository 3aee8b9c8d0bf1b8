// Where the cost of a session lies in its source: every file that events name or the session stores, and every line,
// in the order that the user asks for. No drawing.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/content/source/text.h"

namespace accelscope::app {

using SourceFiles = std::vector<std::shared_ptr<const SourceFile>>;

struct FileCost {
  std::string path;
  std::shared_ptr<const SourceFile> text;  // null: the session does not store it
  LineCost cost;
  std::size_t line_count = 0;  // lines that events name
};

enum class CostColumn : std::uint8_t { place, events, busy, wait, bytes };
[[nodiscard]] CostColumn column_of(Heat heat) noexcept;

// One entry per file. Paths that mean the same stored file are one.
[[nodiscard]] std::vector<FileCost> file_costs(const SourceLines& lines, const SourceFiles& stored);
void sort_files(std::vector<FileCost>& files, CostColumn column, bool descending);

// Indices into lines.lines of those whose path holds `wanted` (all if it is empty), upper and lower case alike.
[[nodiscard]] std::vector<std::uint32_t> ordered_lines(const SourceLines& lines, std::string_view wanted,
                                                       CostColumn column, bool descending);

// The paths that events name and no stored file is meant by.
[[nodiscard]] std::set<std::string> paths_without_text(const SourceLines& lines, const SourceFiles& stored);

[[nodiscard]] LineCost cost_of(const SourceLine& line) noexcept;
LineCost& operator+=(LineCost& sum, const LineCost& more) noexcept;

// Indices (from 0) of the lines that cost something, the costliest first.
[[nodiscard]] std::vector<std::uint32_t> hot_lines(const std::vector<LineCost>& costs, Heat heat);

// Indices of the lines that hold the text, upper and lower case alike. A number alone means that line.
[[nodiscard]] std::vector<std::uint32_t> find_lines(const std::vector<CodeLine>& lines, std::string_view wanted);

}  // namespace accelscope::app
