// Makes tt-metal device logs for tests, fuzzing and benchmarks: deterministic, of every shape that the tool has had,
// with the zones that a reader should find in them. Rows come as the tool writes them: per core and processor the
// firmware's begin and end, the kernel's, then what lies in it.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace accelscope::test {

// The shapes of the file, oldest first. a has no header; e and g have the same number of cells.
enum class TtLogEra : std::uint8_t { a, b, c, d, e, f, g, h };

struct TtLogOptions {
  TtLogEra era = TtLogEra::h;
  std::uint32_t chips = 1;
  std::uint32_t cores_x = 2;
  std::uint32_t cores_y = 2;
  std::uint32_t programs = 4;           // runs on every core
  std::uint32_t programs_per_read = 2;  // of the device's buffers: rows of a core lie together that long
  std::uint32_t zones = 3;              // of the kernel's own, in pairs of which the second lies in the first
  std::uint32_t data = 1;               // TS_DATA rows; from era f on
  bool totals = false;                  // a ZONE_TOTAL
  bool events = false;                  // a TS_EVENT
  bool counters = false;                // two performance counters
  bool dispatch = false;                // meta data of a dispatch core on the kernel's begin
  bool traced = false;                  // trace id and replay; era h
  double frequency_mhz = 1000;
  std::uint64_t seed = 1;
};

struct TtRow {
  std::uint32_t chip = 0;
  std::uint32_t core_x = 0;
  std::uint32_t core_y = 0;
  std::string_view risc;
  std::uint32_t timer_id = 0;
  std::uint64_t time = 0;
  std::uint64_t data = 0;
  std::uint64_t run = 0;
  std::string_view name;
  std::string_view type;  // ZONE_START ...
  std::uint32_t line = 0;
  std::string_view file;
  std::string_view meta_data;
  std::uint32_t old_timer_id = 0;  // of eras a to c
};

struct TtZone {
  std::uint32_t chip = 0;
  std::string track;  // "core 1,2 BRISC"
  std::string name;
  std::int64_t begin = 0;  // cycles
  std::int64_t end = 0;
  std::uint32_t depth = 0;
  std::string source;     // "brisc.cc:412"; empty in eras without
  std::uint64_t run = 0;  // 0 in eras without

  auto operator<=>(const TtZone&) const = default;
};

// The lines before the first row.
[[nodiscard]] std::string tt_log_header(const TtLogOptions& options);
void append_tt_row(const TtRow& row, const TtLogOptions& options, std::string& text);
// Rows that the era can have, in the order of the file.
void generate_tt_rows(const TtLogOptions& options, const std::function<void(const TtRow&)>& take);

[[nodiscard]] std::string tt_log_text(const TtLogOptions& options);
[[nodiscard]] std::vector<TtZone> tt_log_zones(const TtLogOptions& options);  // sorted
// The number of rows.
[[nodiscard]] Result<std::uint64_t> write_tt_log(const TtLogOptions& options, const std::string& path);

}  // namespace accelscope::test
