// The tables of a tt-metal device log. Column names are the file's field names in the form of SQL names (run_host_id
// for "run host ID"); one column takes what its eras call by different names. Columns of logs from a dispatch core and
// those of unknown names follow behind where a file has them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/model/schema.h"

namespace accelscope::capture::sources::tt_metal {

enum class LogTable : std::uint8_t {
  zone,          // slices: a begin and its end
  zone_total,    // instants: cycles summed up over many passes
  ts_data,       // instants with 64 bits of data
  ts_event,      // instants; also ends without a begin, and types that are not known
  perf_counter,  // samples of a performance counter; one track per counter
};
inline constexpr std::size_t kLogTableCount = 5;

// What the columns hold. Every table has first some that are its own - the first so many of these - and then those that
// mean the same in all.
enum class LogField : std::uint8_t {
  value,          // what the marker carries: perf_counter value, zone_total cycles, "data" of the others
  own,            // zone: cycles; zone_total: ns; ts_event: type; perf_counter: ref_cnt; ts_data has none
  unfinished,     // zone: it has no end; ts_event: it is an end without a begin
  end_meta_data,  // zone
  pcie_slot,
  core_x,
  core_y,
  risc,
  timer_id,
  run_host_id,
  run_id,
  trace_id,
  trace_id_counter,
  time_cycles,
  source,
  meta_data,
};
inline constexpr std::size_t kLogFieldCount = 16;
inline constexpr std::size_t kOwnLogFields = 4;

// What dispatch cores write into the meta data about the command they carry out.
struct DispatchKey {
  std::string_view name;
  ColumnType type;
};
inline constexpr std::array<DispatchKey, 3> kDispatchKeys = {{{"workers_runtime_id", ColumnType::uint64},
                                                              {"dispatch_command_type", ColumnType::string},
                                                              {"dispatch_command_subtype", ColumnType::string}}};

struct LogTableColumns {
  bool dispatch = false;            // kDispatchKeys have columns
  std::vector<std::string> extras;  // columns of names that are not known
};

// Runs of programs: the ids of LogContext, the length in cycles, the cores that took part.
[[nodiscard]] Schema run_schema();
[[nodiscard]] Schema device_log_schema(LogTable table, const LogTableColumns& more);
// Where a table's columns lie. The dispatch columns follow behind those of LogField, then those of unknown names.
class LogColumns {
 public:
  explicit LogColumns(LogTable table) noexcept;
  // The table must have the field.
  [[nodiscard]] std::size_t operator[](LogField field) const noexcept {
    const auto place = static_cast<std::size_t>(field);
    return place < kOwnLogFields ? place : place - kOwnLogFields + own_;
  }
  [[nodiscard]] std::size_t further() const noexcept { return kLogFieldCount - kOwnLogFields + own_; }

 private:
  std::size_t own_;
};

}  // namespace accelscope::capture::sources::tt_metal
