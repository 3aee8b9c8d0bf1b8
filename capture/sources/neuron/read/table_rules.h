// Which table of the file becomes which schema and on which tracks its rows go. A table that is not in the list is
// imported with columns inferred from its first rows (importer.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "capture/sources/neuron/read/row_binding.h"
#include "capture/sources/neuron/read/table_columns.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::neuron {

// The schemas of a Neuron profile, shared by the JSON source and the simulated accelerator, so that a column has
// one name, unit and explanation wherever its events come from. Column names are the vendor's field names of the
// JSON tables; `timestamp` and `duration` are the built-in start and duration, and the field that became the
// built-in name is Schema::name_column. Columns that no JSON table has are marked "derived" below.
//
//   SchemaNumber number = writer.add_schema(neuron_schema(NeuronTable::instruction));
//   constexpr std::size_t kPc = neuron_column(NeuronTable::instruction, "pc");
//
// Tracks: see the comment of each table (Track::kind, one track per ...). Shares are fractions of one, unit "share".
// Holds no code that reads or writes a profile.

// Number 0; add_schema assigns one.
[[nodiscard]] Schema neuron_schema(NeuronTable table);

// "activity_0" for 0, "unknown" for 99: the kinds of throttling, JSON ham.type.
[[nodiscard]] std::string_view neuron_throttle_kind(std::int64_t type) noexcept;

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
