// One import of an export of Nsight Systems: what is known of the whole first, then table by table - what ran on
// devices, the calls that launched it, what threads did, samples - then everything that is told once it is all there.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "capture/sources/base/source.h"
#include "capture/sources/nsys/read/facts.h"
#include "capture/sources/nsys/read/payloads.h"
#include "capture/sources/nsys/read/words.h"
#include "capture/sources/nsys/write/tables.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "capture/sources/sqlite/rows_ahead.h"
#include "capture/sources/tracks/unordered_session.h"
#include "core/base/bytes.h"

namespace accelscope::capture::sources::nsys {

// Stacks of functions, by number: a row of the table for each frame, 0 being the innermost.
class NsysStacks {
 public:
  struct Stack {
    StringId frames = 0;     // "function (library)" a line, innermost first; 0: there is no such stack
    StringId innermost = 0;  // function
  };

  NsysStacks(NsysStrings& strings, SessionWriter& writer) : strings_(strings), writer_(writer) {}

  // `file` must outlive the object.
  Result<void> open(const sqlite::ForeignDatabase& file, std::string_view table);
  [[nodiscard]] Stack stack(std::int64_t number);
  [[nodiscard]] bool any() const noexcept { return any_; }
  [[nodiscard]] std::uint64_t frames_read() const noexcept { return frames_read_; }

 private:
  static constexpr std::size_t kMostRememberedStacks = 1U << 20;
  static constexpr std::size_t kMostFrames = 1024;

  NsysStrings& strings_;
  SessionWriter& writer_;
  Statement lookup_;
  std::unordered_map<std::int64_t, Stack> known_;
  std::string text_;
  std::uint64_t frames_read_ = 0;
  bool any_ = false;
};

class NsysImporter {
 public:
  // Two connections to the file: rows are read through the second while the first looks up what they refer to.
  NsysImporter(sqlite::ForeignDatabase file, sqlite::ForeignDatabase events, std::string path,
               const ImportOptions& options, EventSink& sink);
  Result<void> run();

 private:
  using Row = sqlite::BatchedRow;
  using Columns = std::span<const std::string_view>;

  // Every row of the table, while nobody cancels. Counts what is read, and tells what a damaged table still held.
  void each_row(std::string_view table, std::string_view becomes, Columns columns,
                const std::function<void(const Row&)>& visit, std::string_view further = {});
  // The same with the table's further columns behind those.
  void each_row(std::string_view table, NsysTable kind, Columns columns, const std::function<void(const Row&)>& visit,
                std::string_view further = {});
  void set_further(NsysTable kind, const Row& row, std::size_t first);
  void set_number(std::size_t column, const Row& row, std::size_t field);
  void set_word(std::size_t column, NsysEnum family, std::int64_t number);
  void count_sources();

  // What ran on devices: device_tables.cpp
  struct Work {
    std::uint64_t process = 0;
    std::int64_t device = 0, context = 0, stream = 0, correlation = 0;
    std::int64_t start = 0, duration = 0;
  };
  [[nodiscard]] bool read_work(const Row& row, Work& work);
  void remember_launched();
  void add_target(const Work& work, const tracks::WrittenEvent& event);
  [[nodiscard]] StringId dimensions(std::int64_t x, std::int64_t y, std::int64_t z);
  [[nodiscard]] bool is_collective(std::int64_t name);
  void set_work(std::int64_t name, StringId grid, const std::array<std::int64_t, 3>& blocks);
  void set_transfer(const Work& work, std::int64_t bytes);
  void read_kernels();
  void read_copies();
  void read_sets();
  void read_graphs();
  void read_device_events();
  void read_waits();
  void set_waited_event(const Work& wait, std::int64_t event, std::int64_t record);
  // device_tables.cpp
  void read_memory();
  void read_memory_pools();
  void read_page_faults();
  [[nodiscard]] StringId pool_name(const Row& row, std::int64_t gpu);

  // What threads did: host_tables.cpp
  void read_calls();
  void read_system_calls();
  void read_overhead();
  void read_libraries();
  void read_library(const std::string& table, std::span<const std::string> columns);
  void read_ranges();
  void write_range(const Row& row);
  void set_payload(const Row& row);
  void close_ranges();

  // Samples: host_tables.cpp
  void read_cpu_samples();
  void read_thread_states();
  void read_metrics();
  void read_messages();

  // importer.cpp
  void tell_unread_tables();
  void tell_unread_columns();
  void write_facts();
  void write_report();
  void saw(std::int64_t end) noexcept { last_ = any_time_ ? std::max(last_, end) : end, any_time_ = true; }

  sqlite::ForeignDatabase file_;
  sqlite::ForeignDatabase events_;
  std::string path_;
  const ImportOptions& options_;
  tracks::UnorderedSession session_;
  NsysWords words_;
  NsysStrings strings_;
  NsysStacks stacks_;
  NsysFacts facts_;
  NsysPayloads payloads_;
  NsysRows rows_;
  tracks::EventValues values_;

  std::uint64_t rows_done_ = 0;
  std::uint64_t rows_total_ = 0;
  std::map<std::string, std::uint64_t, std::less<>> read_tables_;  // of the file
  struct SourceRows {
    std::uint64_t all = 0;
    std::uint64_t read = 0;
  };
  struct EventRecord {
    std::int64_t correlation = 0, stream = 0;
    auto operator<=>(const EventRecord&) const = default;
  };
  using EventKey = std::pair<std::uint64_t, std::int64_t>;      // process and number
  std::map<EventKey, std::vector<EventRecord>> recordings_;     // of events, by the order of the calls
  std::map<EventKey, EventRecord> numbered_recordings_;         // by eventSyncId, where an export has it
  std::map<std::string, SourceRows, std::less<>> source_rows_;  // of them, by the table that they become
  std::vector<std::uint64_t> launched_;                         // keys of what ran on devices
  std::vector<bool> may_launch_;  // by the lower bits of a key: whether it may be among them
  std::map<std::pair<NsysEnum, std::int64_t>, StringId> interned_words_;
  std::map<std::array<std::int64_t, 3>, StringId> interned_dimensions_;
  std::map<std::pair<std::int64_t, std::int64_t>, StringId> copy_names_;
  struct KnownWork {
    double flops = 0;
    StringId precision = 0, basis = 0;
  };
  std::map<std::pair<std::int64_t, StringId>, KnownWork> works_;                  // of kernels by name and grid
  std::unordered_map<std::int64_t, bool> collectives_;                            // by the number of a kernel's name
  std::set<std::tuple<std::int64_t, std::uint64_t, std::int64_t>> memory_users_;  // GPU, process and context

  struct OpenRange {
    std::uint32_t row = 0;
    std::int64_t start = 0;
    StringId name = 0;
    tracks::EventValues values;
  };
  std::vector<OpenRange> open_ranges_;

  struct Counts {
    std::uint64_t not_collected = 0;   // without a time
    std::uint64_t before_session = 0;  // samples
    std::uint64_t open_ranges = 0;
    std::uint64_t unknown_ranges = 0;
    std::uint64_t naming_ranges = 0;  // rows of NVTX that name others
    std::uint64_t unread_payloads = 0;
    std::uint64_t open_states = 0;
    std::uint64_t unknown_states = 0;
    std::uint64_t renamed_waits = 0;
    std::uint64_t missing_times = 0;  // rows whose start is no number
    [[nodiscard]] std::uint64_t left_out() const noexcept {
      return not_collected + before_session + unknown_ranges + missing_times;
    }
  };
  Counts counts_;
  std::int64_t last_ = 0;
  bool any_time_ = false;
  bool any_call_ = false;
  bool any_work_ = false;
};

// The key of flows between a call and what it started.
[[nodiscard]] inline std::uint64_t launch_key(std::uint64_t process, std::int64_t correlation) noexcept {
  return tracks::flow_key(process, static_cast<std::uint64_t>(correlation));
}

}  // namespace accelscope::capture::sources::nsys
