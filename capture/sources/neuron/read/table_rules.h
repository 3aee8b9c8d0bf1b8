// Which table of the file becomes which schema and on which tracks its rows go. A table that is not in the list is
// imported with columns inferred from its first rows (inferred_schema.h).
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/read/schemas.h"

namespace accelscope::capture::sources::neuron {

struct TableRule {
  std::string_view json_name;
  NeuronTable table;
  std::string_view track_kind;
  std::string_view track_name;  // of the only track, or put before the key
  Captured key;                 // field that names the track; none: one track for all rows
};

// Nothing if the table is not known as one of events.
[[nodiscard]] const TableRule* find_table_rule(std::string_view json_name) noexcept;

// Tables that become metadata and metrics rather than events: metadata, summary ...
[[nodiscard]] bool is_fact_table(std::string_view json_name) noexcept;
// "summary" for "Summary", as newer exports call it; other names as they are.
[[nodiscard]] std::string_view fact_table_name(std::string_view table) noexcept;

// Tables that are documented, and are imported with the columns that they come with.
struct PlainTableRule {
  std::string_view table;
  std::string_view track_kind = "table";
  std::string_view track_name = {};  // "": the table's
};
[[nodiscard]] const PlainTableRule* find_plain_table(std::string_view table) noexcept;

// "n_" and forty hexadecimal digits: the key of a summary in summary-json.
[[nodiscard]] bool is_summary_key(std::string_view json_name) noexcept;

}  // namespace accelscope::capture::sources::neuron
