// The columns of an operations report of tt-metal. There are 74 to 139 and more of them, by version and by how many
// inputs the operations have: what each is comes from its name and from what its cells hold.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/schema.h"

namespace accelscope::capture::sources::tt_ops {

// Those that the import itself needs, by the names that they have in the reports of the tools that write them: the
// Python script, the C++ library (cpp_device_perf_report.csv) and users of the real-time profiler.
struct OpColumn {
  using Names = std::array<std::string_view, 3>;  // "": no further one
  static constexpr Names op_code = {"OP CODE", "OP NAME"}, op_type = {"OP TYPE"},
                         call_count = {"GLOBAL CALL COUNT", "runtime_id", "program_id"},
                         device_id = {"DEVICE ID", "chip_id"}, host_start = {"HOST START TS"},
                         host_end = {"HOST END TS"}, host_duration = {"HOST DURATION [ns]"},
                         call_depth = {"CALL DEPTH"},
                         fw_start = {"DEVICE FW START CYCLE", "start_timestamp", "go_cycles"},
                         fw_end = {"DEVICE FW END CYCLE", "end_timestamp", "done_cycles"},
                         fw_duration = {"DEVICE FW DURATION [ns]", "duration_ns"}, trace_id = {"METAL TRACE ID"},
                         kernel_sources = {"kernel_sources"};
};
// Where the header has one of the names.
[[nodiscard]] std::optional<std::size_t> find_op_column(std::span<const std::string> header,
                                                        const OpColumn::Names& names) noexcept;

// What the cells of a column have held so far: whole numbers, else numbers, else texts. Empty cells say nothing.
enum class CellKind : std::uint8_t { none, integer, real, text };
[[nodiscard]] CellKind wider(CellKind known, std::string_view cell) noexcept;

// Units, headings and explanations by name, in the order of the file; every column is kept under its own name.
[[nodiscard]] std::vector<Column> op_columns(std::span<const std::string> names, std::span<const CellKind> kinds);

// Whether the line is the header of an operations report.
[[nodiscard]] bool is_ops_header(std::span<const std::string> names) noexcept;

}  // namespace accelscope::capture::sources::tt_ops
