// The columns of an operations report of tt-metal. There are 74 to 139 and more of them, by version and by how many
// inputs the operations have: what each is comes from its name and from what its cells hold.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/clock.h"
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

// Where the cycles of a device lie on the host's time, from operations that tell both.
class DeviceTime {
 public:
  // Of an operation, in cycles and ns; anything but the begin may be unknown.
  void add(std::int64_t first_cycle, std::optional<std::int64_t> last_cycle, std::optional<double> duration_ns,
           std::optional<std::int64_t> host_begin_ns);

  // Cycles per ns: the median over the operations, to a whole MHz where it is within a thousandth of one. Nothing: no
  // operation tells cycles and ns.
  [[nodiscard]] std::optional<double> ticks_per_ns() const;
  // The host's times of cycles, rising in both; empty: no operation tells both times. One anchor where a clock of that
  // rate fits all operations: the earliest for which none begins before its host's. Clocks that rest while nothing runs
  // fall behind by more than kMostSlack over the capture: theirs make up for it between operations, each of which then
  // begins as early as its host and the operations before it allow.
  [[nodiscard]] std::vector<ClockAnchor> anchors(double ticks_per_ns) const;
  [[nodiscard]] std::int64_t first_cycle() const noexcept { return first_cycle_; }

 private:
  static constexpr std::int64_t kMostSlack = 1'000'000;  // ns
  struct Operation {
    std::int64_t first_cycle = 0;
    std::int64_t last_cycle = 0;
    std::optional<std::int64_t> host_ns;
  };
  [[nodiscard]] std::vector<ClockAnchor> following_anchors(double ticks_per_ns) const;

  std::vector<Operation> operations_;
  std::vector<double> rates_;
  std::int64_t first_cycle_ = INT64_MAX;
};

}  // namespace accelscope::capture::sources::tt_ops
