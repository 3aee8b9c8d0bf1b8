// The columns of an operations report of tt-metal. There are 74 to 139 and more of them, by version and by how many
// inputs the operations have: what each is comes from its name and from what its cells hold.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/schema.h"

namespace accelscope::capture::sources::tt_ops {

// Those that the import itself needs, by the names that all versions use.
struct OpColumn {
  static constexpr std::string_view op_code = "OP CODE", op_type = "OP TYPE", call_count = "GLOBAL CALL COUNT",
                                    device_id = "DEVICE ID", host_start = "HOST START TS", host_end = "HOST END TS",
                                    host_duration = "HOST DURATION [ns]", call_depth = "CALL DEPTH",
                                    fw_start = "DEVICE FW START CYCLE", fw_end = "DEVICE FW END CYCLE",
                                    fw_duration = "DEVICE FW DURATION [ns]", trace_id = "METAL TRACE ID",
                                    replay_id = "METAL TRACE REPLAY SESSION ID";
};

// What the cells of a column have held so far: whole numbers, else numbers, else texts. Empty cells say nothing.
enum class CellKind : std::uint8_t { none, integer, real, text };
[[nodiscard]] CellKind wider(CellKind known, std::string_view cell) noexcept;

// Units, headings and explanations by name, in the order of the file; every column is kept under its own name.
[[nodiscard]] std::vector<Column> op_columns(std::span<const std::string> names, std::span<const CellKind> kinds);

// Whether the line is the header of an operations report.
[[nodiscard]] bool is_ops_header(std::span<const std::string> names) noexcept;

}  // namespace accelscope::capture::sources::tt_ops
