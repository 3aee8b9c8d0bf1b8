// What the first lines of a tt-metal device log (profile_log_device.csv) say: the chip's architecture and frequency,
// and which column lies where. The tool has changed the columns many times and two of its headers have the same number
// of cells with different meanings, so columns are found by name, never by place. The oldest logs have no header at
// all.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace accelscope::capture::sources::tt_metal {

enum class LogColumn : std::uint8_t {
  chip,  // "PCIe slot"
  core_x,
  core_y,
  risc,
  timer_id,
  time,  // cycles since reset
  data,  // "stat value", later "data"
  run_id,
  run_host_id,
  trace_id,
  trace_id_counter,
  zone_name,
  type,  // "zone phase": begin, end; later "type": ZONE_START, ZONE_END, ZONE_TOTAL, TS_DATA, TS_EVENT
  source_line,
  source_file,
  meta_data,
};
inline constexpr std::size_t kLogColumnCount = 16;

struct DeviceLogLayout {
  static constexpr int kAbsent = -1;
  struct Extra {
    int place = kAbsent;
    std::string name;
  };

  std::string arch;
  double frequency_mhz = 0;  // 0: not stated
  std::optional<std::uint64_t> max_compute_cores;
  bool has_header = false;
  std::array<int, kLogColumnCount> places{};  // by LogColumn: which cell of a row
  std::vector<Extra> extras;                  // columns of names that are not known
  int cell_count = 0;

  DeviceLogLayout() { places.fill(kAbsent); }
  [[nodiscard]] int place(LogColumn column) const noexcept { return places[static_cast<std::size_t>(column)]; }
  [[nodiscard]] bool has(LogColumn column) const noexcept { return place(column) != kAbsent; }
};

struct LogPrologue {
  DeviceLogLayout layout;
  std::size_t bytes = 0;  // of the text before the first row
  std::uint64_t lines = 0;
};

// The lines before the first row. The error says what is missing, for a message "FILE: ...".
[[nodiscard]] Result<LogPrologue> read_prologue(std::string_view text);

// 0 to 100: how sure it is that a text which begins like this is a device log.
[[nodiscard]] int probe_device_log_text(std::string_view text);

// The chip's line or a header: neither is a row.
[[nodiscard]] bool is_prologue_line(std::string_view line);

// Without blanks at its ends and without the quotes around it.
[[nodiscard]] std::string_view plain_cell(std::string_view cell) noexcept;
// The same as text of its own: inside quotes, two quotes stand for one.
[[nodiscard]] std::string cell_string(std::string_view cell);

enum class NumberState : std::uint8_t { ok, empty, not_a_number, negative, too_large };
[[nodiscard]] NumberState read_number(std::string_view cell, std::uint64_t& value) noexcept;

// One row of a device log in numbers. Everything that many rows share is in the log's dictionary.
struct LogMarker {
  std::int64_t time = 0;      // cycles since the chip's reset
  std::uint64_t data = 0;     // "data"; of a performance counter its value
  std::uint64_t extra = 0;    // number of the meta data's text; of a performance counter its reference count
  std::uint32_t site = 0;     // which marker of the code: DeviceLogDictionary::site
  std::uint32_t context = 0;  // which run of it: DeviceLogDictionary::context
  bool operator==(const LogMarker&) const = default;
};

// The "meta data" cell of a device log: a JSON object with ';' for every ',' so that it fits a cell.

// {"counter type":"FPU_COUNTER";"ref cnt":120;"value":99}
struct CounterFields {
  std::string type;
  std::uint64_t reference = 0;
  std::uint64_t value = 0;
};

// Nothing if the object is no performance counter with a name and a value of 64 bits.
[[nodiscard]] std::optional<CounterFields> read_counter_fields(std::string_view cell);

// The value behind a key of the object: of a string what is between its quotes. Empty if there is none.
[[nodiscard]] std::string_view meta_data_field(std::string_view text, std::string_view key) noexcept;

[[nodiscard]] std::string with_commas(std::string text);  // the JSON that it was

}  // namespace accelscope::capture::sources::tt_metal
