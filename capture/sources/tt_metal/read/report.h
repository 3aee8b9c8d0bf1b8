// What an import of a device log left out, mended or could not know, as quality entries: a sentence each, with what to
// try.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/sources/tt_metal/read/dictionary.h"
#include "capture/sources/tt_metal/read/layout.h"
#include "capture/sources/tt_metal/read/row_problems.h"
#include "capture/sources/tt_metal/read/schemas.h"
#include "core/chunk/session_writer.h"

namespace accelscope::capture::sources::tt_metal {

// "core 1,1 BRISC"
[[nodiscard]] std::string processor_name(const LogProcessor& processor);
[[nodiscard]] std::string chip_name(std::uint32_t chip);

// A number of events and the processors they are on, the first few by name.
class CountByProcessor {
 public:
  void add(const LogProcessor& processor, std::uint64_t count);
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] std::string names() const;

 private:
  static constexpr std::size_t kNamed = 6;
  std::uint64_t total_ = 0;
  std::size_t processors_ = 0;
  std::string names_;
};

struct DeviceLogCounts {
  std::uint64_t rows = 0;  // lines behind the header that are not blank
  RowProblems problems;
  std::uint64_t long_lines = 0;
  std::uint64_t hole_bytes = 0;  // zeros in place of rows
  std::uint64_t first_hole = 0;
  std::string unreadable;                                  // why the file ends early; or ""
  bool ends_in_line = false;                               // the last line has no end
  std::array<std::uint64_t, kLogTableCount> table_rows{};  // a zone has two; ends without a begin count there too
  std::uint64_t duplicates = 0;
  std::uint64_t doubtful = 0;  // markers whose times cannot be true
  std::uint64_t unknown_types = 0;
  std::uint64_t names_left_out = 0;
  CountByProcessor unfinished;
  CountByProcessor lone_ends;
  CountByProcessor left_out;  // events without a lane
  std::size_t chips = 0;
};

// Of a file that is none.
[[nodiscard]] Error no_device_log(const std::string& name, const std::string& reason);

void write_facts(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer);
// The source files that the log names, as far as they lie under the folders.
void write_sources(const DeviceLogDictionary& dictionary, const std::vector<std::string>& roots, SessionWriter& writer);
void write_report(const DeviceLogCounts& counts, const DeviceLogLayout& layout, SessionWriter& writer);

}  // namespace accelscope::capture::sources::tt_metal
