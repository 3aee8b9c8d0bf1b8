// How a row or a bar of a summary is written as a search (core/search/search.h), so that clicking it selects its
// events.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/analysis/selection/summary.h"

namespace accelscope::listing {

// name="MATMUL"; of a name that is of several kinds: opcode="MATMUL".
[[nodiscard]] std::string search_of_name(const Snapshot& snapshot, const analysis::SummaryRow& row,
                                         std::span<const analysis::SummaryRow> all);
[[nodiscard]] std::string containing_term(std::string_view column, std::string_view text);  // column~/text/
[[nodiscard]] std::string beginning_term(std::string_view column, std::string_view text);   // column~/^text/
// The value's last lines are these.
[[nodiscard]] std::string ending_lines_term(std::string_view column, std::span<const std::string_view> lines);
// The value's first line is one of these.
[[nodiscard]] std::string first_line_term(std::string_view column, std::span<const std::string_view> lines);
// Exactly one of these.
[[nodiscard]] std::string one_of_term(std::string_view column, std::span<const std::string_view> texts);
[[nodiscard]] std::string search_of_line(std::string_view line);  // kernel.py:33
// Nothing where the schemas of a session call their layers or bytes by different names.
[[nodiscard]] std::optional<std::string> search_of_layer(const Snapshot& snapshot, std::string_view layer);
// The same of the layer and of all whose path begins with it: "decoder/mlp" finds "decoder/mlp/up".
[[nodiscard]] std::optional<std::string> search_of_layers_below(const Snapshot& snapshot, std::string_view layer);
[[nodiscard]] std::string search_of_any_layer(std::span<const std::string> layers);  // likewise, of any of these
[[nodiscard]] std::optional<std::string> search_of_sizes(const Snapshot& snapshot, const analysis::SummaryBin& bin);
[[nodiscard]] std::string search_of_text(std::string_view column, std::string_view text);  // column="text"
[[nodiscard]] std::string search_of_texts(std::string_view column, std::span<const std::string> texts);  // any of them
[[nodiscard]] std::string search_of_values(std::string_view column, double begin, double end);  // begin to below end
[[nodiscard]] std::string search_of_numbers(std::string_view column, std::uint64_t least, std::uint64_t most);
[[nodiscard]] std::string search_of_durations(const analysis::SummaryBin& bin);  // duration>=1000 duration<2000

// The filter with the search, or without it where it had it already.
[[nodiscard]] EventFilter with_term_toggled(EventFilter filter, const std::string& search);

}  // namespace accelscope::listing
