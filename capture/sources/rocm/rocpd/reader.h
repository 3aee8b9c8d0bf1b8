// Reads one part of a rocpd database into a run: version 3 of the schema, and 4, where what is alike of
// many events is in a table of tracks.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/foreign_database.h"
#include "capture/sources/sqlite/id_rows.h"
#include "capture/sources/sqlite/rows_ahead.h"

namespace accelscope::capture::sources::rocm {

// Which tables of a rocpd database belong together. Each process that wrote into it has its own: "rocpd_event" with its
// identifier behind, "rocpd_event_0000090f_565d_...". Views without an identifier join those of all; a program that
// crashed has left none, and those that there are need not be trusted, so that only tables are read.

struct RocpdPart {
  std::string identifier;                                 // behind the tables' names; "" if there is none
  std::map<std::string, std::string, std::less<>> names;  // "event" -> "rocpd_event_0000..."
  std::map<std::string, std::string, std::less<>> facts;  // of its table of metadata: schema_version, guid

  // "" if it has no such table.
  [[nodiscard]] std::string_view table(std::string_view base) const {
    const auto found = names.find(base);
    return found == names.end() ? std::string_view{} : std::string_view(found->second);
  }
  [[nodiscard]] std::string_view fact(std::string_view tag) const {
    const auto found = facts.find(tag);
    return found == facts.end() ? std::string_view{} : std::string_view(found->second);
  }
};

[[nodiscard]] Result<std::vector<RocpdPart>> find_rocpd_parts(const sqlite::ForeignDatabase& database);

// What the first bytes of a database of ROCm's profilers, or the names of its tables, say that it is.
enum class RocmDatabase : std::uint8_t { none, rocpd, rpd, compute, rocprof };
[[nodiscard]] RocmDatabase rocm_database_of(const std::vector<std::string>& tables);

// The host that a database of rocpd was recorded on, as its machine id; "" if it does not say.
[[nodiscard]] std::string rocpd_machine(const sqlite::ForeignDatabase& database);

// About how many events the part holds.
[[nodiscard]] std::uint64_t rocpd_events(const sqlite::ForeignDatabase& database, const RocpdPart& part);

// The columns that counters of kernels have, of all parts that are to be read into one run.
class RocpdCounters {
 public:
  void add(const sqlite::ForeignDatabase& database, const RocpdPart& part);
  [[nodiscard]] std::vector<RocmCounter> columns() const;
  [[nodiscard]] std::optional<std::uint32_t> place(const std::string& name) const;

 private:
  static constexpr std::size_t kMostColumns = 400;
  std::map<std::string, std::uint32_t> places_;
  std::vector<RocmCounter> counters_;
};

class RocpdReader {
 public:
  // `ahead`: another() of the database, for a thread that reads ahead.
  RocpdReader(const sqlite::ForeignDatabase& database, const sqlite::ForeignDatabase& ahead, const RocpdPart& part,
              const RocpdCounters& counters, RocmRun& run, ReadingProgress& progress);

  void read();

 private:
  struct Symbol {
    StringId name = 0;
    MaybeNumber vgprs, accum_vgprs, sgprs;
  };
  struct TrackFacts {
    MaybeNumber process, thread, agent, queue, stream, name;
  };
  struct CounterFacts {
    std::string name;
    std::string unit;
    MaybeNumber agent;
    MaybeNumber process;
    std::optional<std::uint32_t> column;
  };
  struct CategoryFacts {
    StringId name = 0;
    RocmHostTable table = RocmHostTable::region;
  };

  // Facts: facts.cpp
  void read_processes();
  void read_threads();
  void read_agents();
  void read_tracks();
  void read_counters();
  [[nodiscard]] std::uint32_t process_of(MaybeNumber id);
  [[nodiscard]] MaybeNumber thread_of(MaybeNumber id) const;
  [[nodiscard]] const CategoryFacts& category_of(MaybeNumber id);
  [[nodiscard]] const Symbol& symbol_of(MaybeNumber id);

  // Events: events.cpp
  void read_kernels();
  void read_copies();
  void read_allocations();
  void read_regions();
  void read_samples();
  void read_streamed_counters();
  void read_graph_launches();
  void place_event(MaybeNumber event, RocmRecord& record);
  void place_on_device(const sqlite::BatchedRow& rows, RocmOnDevice& event);
  void describe_host_event(MaybeNumber event, RocmOnHost& host);
  [[nodiscard]] std::vector<CounterValue> counters_of(MaybeNumber event, std::string& further);
  [[nodiscard]] bool sample_counters(MaybeNumber event, std::int64_t time);
  [[nodiscard]] std::string arguments_of(MaybeNumber event);
  [[nodiscard]] std::string_view event_text(std::size_t column, std::string& storage);
  void write_host_event(RocmOnHost& host);
  [[nodiscard]] bool open_event_tables();
  [[nodiscard]] std::string streamed_condition() const;
  // Calls visit for every row; tells of those that could not be read.
  void each_row(std::string_view base, std::span<const std::string_view> columns,
                const std::function<void(const sqlite::BatchedRow&)>& visit, bool by_event = false);
  void report_left_out();

  const sqlite::ForeignDatabase& database_;
  const sqlite::ForeignDatabase& ahead_;
  const RocpdPart& part_;
  const RocpdCounters& counter_columns_;
  RocmRun& run_;
  ReadingProgress& progress_;
  NamedIds strings_;
  NamedIds category_names_;
  bool own_categories_ = false;  // in a table of their own
  sqlite::KeyedRows symbol_rows_;
  sqlite::KeyedRows events_;
  std::unique_ptr<sqlite::KeyedRows> arguments_;  // made anew for each table whose ids rise
  std::unique_ptr<sqlite::KeyedRows> counts_;
  bool has_arguments_ = false;
  bool has_counts_ = false;
  std::map<std::int64_t, std::uint32_t> processes_;
  std::unordered_map<std::int64_t, std::int64_t> threads_;
  std::unordered_map<std::int64_t, Symbol> symbols_;
  std::unordered_map<std::int64_t, TrackFacts> tracks_;
  std::unordered_map<std::int64_t, CounterFacts> counters_;
  std::unordered_map<std::int64_t, CategoryFacts> categories_;
  IdSet streamed_samples_;  // times of streamed counters only
  std::uint64_t counts_used_ = 0;
  std::uint64_t missing_events_ = 0;
  std::uint64_t packed_texts_ = 0;
  // What the event at hand points to.
  std::string arguments_text_, call_stack_text_, line_info_text_, extra_text_, message_text_, graph_text_;
};

}  // namespace accelscope::capture::sources::rocm
