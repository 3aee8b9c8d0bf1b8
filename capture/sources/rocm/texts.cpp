// Texts: rocprofv3's results in JSON, and its tables in CSV.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/rocm/results_json/reader.h"
#include "capture/sources/rocm/rocprof/reader.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"
#include "core/base/capped.h"
#include "core/base/text.h"

namespace accelscope::capture::sources::rocm {
namespace {

// Reads the tables that rocprofv3 writes as CSV into a run: those of one process, and of several of one host.
enum class RocprofTable : std::uint8_t {
  none,
  agents,
  kernels,
  counters,
  copies,
  allocations,
  scratch,
  calls,
  marks,
  samples,     // of instructions
  statistics,  // sums of what other tables hold
};

class CsvReader {
 public:
  using Open = std::function<Result<std::unique_ptr<json::ByteSource>>(const std::string& path)>;
  using Progress = std::function<void(std::uint64_t done, std::uint64_t total)>;

  CsvReader(RocmRun& run, Open open, Progress progress)
      : run_(run), open_(std::move(open)), progress_(std::move(progress)) {}

  // Fails if none of the files can be read.
  Result<void> read(const std::vector<std::string>& paths);

 private:
  struct File {
    std::string path;
    std::string prefix;  // of its process
    RocprofTable table = RocprofTable::none;
  };
  struct Held {  // a counter's value, until its launch is read
    std::int64_t dispatch = 0;
    std::uint32_t counter = 0;
    double value = 0;
  };
  struct Process {
    std::uint32_t number = 0;
    std::vector<Held> held;  // by dispatch
    IdSet traced;            // dispatches
  };
  struct Columns;

  Result<void> find_tables(const std::vector<std::string>& paths);
  void choose_counters();
  void read_file(const File& file);
  void read_agents(CsvTable& table, Process& process);
  void read_kernel(const CsvTable& table, const Columns& columns, Process& process);
  void describe_dispatch(const CsvTable& table, const Columns& columns, Process& process, RocmDispatch& dispatch);
  static void add_value(std::vector<CounterValue>& values, std::uint32_t counter, double value);
  void process_pid(const Process& process, MaybeNumber pid);
  void hold_counters(const File& file, Process& process);
  void read_counters(CsvTable& table, Process& process);
  void read_copy(const CsvTable& table, const Columns& columns, Process& process);
  void read_allocation(const CsvTable& table, const Columns& columns, Process& process, bool scratch);
  void read_call(const CsvTable& table, const Columns& columns, Process& process, bool mark);
  void read_sample(const CsvTable& table, const Columns& columns, Process& process);
  [[nodiscard]] bool place(const CsvTable& table, const Columns& columns, const Process& process, RocmRecord& record);
  [[nodiscard]] MaybeNumber agent_of(std::string_view cell, Process& process);
  [[nodiscard]] Process& process_of(const File& file, MaybeNumber pid = {});
  void skip_without_time(const CsvTable& table);
  void report_file(const CsvTable& table, const File& file);

  RocmRun& run_;
  Open open_;
  Progress progress_;
  std::vector<File> files_;
  std::map<std::string, Process> processes_;  // by prefix
  std::unordered_map<std::string, std::uint32_t> counter_places_;
  RocmTable becomes_ = RocmTable::kernel;  // what the row at hand
  std::uint64_t without_time_ = 0;
  std::uint64_t first_without_time_ = 0;
  std::uint64_t events_ = 0;
};

constexpr int kSureTable = 90;
constexpr std::size_t kMostCounters = 400;

[[nodiscard]] bool has_column(const std::vector<std::string>& columns, std::string_view name) {
  // rocpd's own tool writes "Lds_Block_Size" where rocprofv3 does "LDS_Block_Size".
  return std::any_of(columns.begin(), columns.end(),
                     [&](const std::string& each) { return lower_case(trimmed(each)) == lower_case(name); });
}

// The first table of which a file has all these columns.
struct RocprofTableRow {
  RocprofTable table;
  std::array<std::string_view, 3> columns;
};
constexpr std::array kRocprofTables = {
    RocprofTableRow{RocprofTable::counters, {"Counter_Name", "Counter_Value", "Dispatch_Id"}},
    RocprofTableRow{RocprofTable::kernels, {"Kernel_Name", "Start_Timestamp", "End_Timestamp"}},
    RocprofTableRow{RocprofTable::copies, {"Direction", "Start_Timestamp", "End_Timestamp"}},
    RocprofTableRow{RocprofTable::scratch, {"Alloc_Flags", "Start_Timestamp", "End_Timestamp"}},
    RocprofTableRow{RocprofTable::allocations, {"Allocation_Size", "Address", "Start_Timestamp"}},
    RocprofTableRow{RocprofTable::calls, {"Domain", "Function", "Start_Timestamp"}},
    RocprofTableRow{RocprofTable::samples, {"Sample_Timestamp", "Exec_Mask", "Dispatch_Id"}},
    RocprofTableRow{RocprofTable::agents, {"Node_Id", "Agent_Type", "Logical_Node_Id"}},
    RocprofTableRow{RocprofTable::statistics, {"Name", "Calls", "TotalDurationNs"}},
};

[[nodiscard]] RocmTable becomes(RocprofTable table) noexcept {
  switch (table) {
    case RocprofTable::copies:
      return RocmTable::memcpy;
    case RocprofTable::allocations:
    case RocprofTable::scratch:
      return RocmTable::memory;
    case RocprofTable::calls:
      return RocmTable::call;
    case RocprofTable::samples:
      return RocmTable::sample;
    default:
      return RocmTable::kernel;
  }
}

// In which order the tables are read: what others need comes first.
[[nodiscard]] int reading_order(RocprofTable table) {
  constexpr std::array kOrder = {RocprofTable::agents, RocprofTable::kernels,     RocprofTable::counters,
                                 RocprofTable::copies, RocprofTable::allocations, RocprofTable::scratch,
                                 RocprofTable::calls,  RocprofTable::samples};
  return static_cast<int>(std::find(kOrder.begin(), kOrder.end(), table) - kOrder.begin());
}

constexpr std::array<std::string_view, 15> kTableEndings = {"_kernel_trace",
                                                            "_counter_collection",
                                                            "_memory_copy_trace",
                                                            "_memory_allocation_trace",
                                                            "_scratch_memory_trace",
                                                            "_marker_api_trace",
                                                            "_hip_api_trace",
                                                            "_hsa_api_trace",
                                                            "_rccl_api_trace",
                                                            "_agent_info",
                                                            "_hip_trace",
                                                            "_hsa_trace",
                                                            "_kernel_stats",
                                                            "_streaming_performance_monitor",
                                                            "_domain_stats"};

[[nodiscard]] std::string_view without_ending(std::string_view text, std::string_view ending) {
  if (text.ends_with(ending)) text.remove_suffix(ending.size());
  return text;
}

[[nodiscard]] MaybeNumber whole_number(std::string_view text) {
  std::int64_t value = 0;
  return read_number(text, value) ? MaybeNumber(value) : std::nullopt;
}

[[nodiscard]] std::optional<std::uint64_t> csv_address(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (text.empty() || wrong != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Of a first line that may be cut: the whole of a short head.
[[nodiscard]] std::vector<std::string> columns_in(std::string_view text) {
  std::vector<std::string> cells;
  text = text.substr(0, text.find('\n'));
  if (!split_csv(trimmed(text), ',', cells)) cells.clear();
  return cells;
}

// Of the first line of a table.
[[nodiscard]] RocprofTable rocprof_table_of(const std::vector<std::string>& columns) {
  for (const RocprofTableRow& row : kRocprofTables) {
    const bool all = std::all_of(row.columns.begin(), row.columns.end(),
                                 [&](std::string_view name) { return has_column(columns, name); });
    if (all) return row.table;
  }
  return RocprofTable::none;
}

[[nodiscard]] int probe_rocprof_table(std::string_view text) {
  const RocprofTable table = rocprof_table_of(columns_in(text));
  return table == RocprofTable::none || table == RocprofTable::statistics ? 0 : kSureTable;
}

// What is common to the tables of one process: "/out/node1/908" of "/out/node1/908_kernel_trace.csv".
[[nodiscard]] std::string rocprof_process_of(const std::string& path) {
  std::string_view stem = without_ending(without_ending(path, ".gz"), ".csv");
  for (const std::string_view ending : kTableEndings) {
    if (stem.ends_with(ending)) return std::string(without_ending(stem, ending));
    if (file_name(stem) == ending.substr(1)) return std::string(stem.substr(0, stem.size() - ending.size() + 1));
  }
  // Tables of other libraries: rocdecode_api, rocjpeg_api ...
  const std::string_view traced = without_ending(without_ending(stem, "_trace"), "_api");
  if (traced.size() == stem.size()) return std::string(stem);
  const std::size_t bar = traced.rfind('_');
  return std::string(bar == std::string_view::npos ? traced : traced.substr(0, bar));
}

// Places of the columns that tables share, or that have other names in older ones.
struct CsvReader::Columns {
  using Place = std::optional<std::size_t>;
  explicit Columns(const CsvTable& table) {
    const auto find = [&](std::string_view name, std::string_view older = {}) {
      const Place place = table.find(name);
      return place || older.empty() ? place : table.find(older);
    };
    guid = find("Guid");
    kind = find("Kind", "Domain");
    function = find("Function");
    process = find("Process_Id");
    thread = find("Thread_Id");
    correlation = find("Correlation_Id");
    start = find("Start_Timestamp");
    end = find("End_Timestamp");
    agent = find("Agent_Id");
    queue = find("Queue_Id");
    stream = find("Stream_Id");
    dispatch = find("Dispatch_Id");
    kernel = find("Kernel_Id");
    kernel_name = find("Kernel_Name");
    shared = find("LDS_Block_Size", "Group_Segment_Size");
    scratch = find("Scratch_Size", "Private_Segment_Size");
    vgprs = find("VGPR_Count", "Arch_VGPR_Count");
    accum_vgprs = find("Accum_VGPR_Count");
    sgprs = find("SGPR_Count");
    constexpr std::array<std::string_view, 3> kWorkgroup = {"Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z"};
    constexpr std::array<std::string_view, 3> kGrid = {"Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z"};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      workgroup[axis] = find(kWorkgroup[axis]);
      grid[axis] = find(kGrid[axis]);
    }
    whole_workgroup = find("Workgroup_Size");
    whole_grid = find("Grid_Size");
    counter = find("Counter_Name");
    value = find("Counter_Value");
    direction = find("Direction", "Operation");
    source = find("Source_Agent_Id");
    destination = find("Destination_Agent_Id");
    bytes = find("Size", "Bytes");
    allocation_size = find("Allocation_Size");
    address = find("Address");
    flags = find("Alloc_Flags");
    sampled = find("Sample_Timestamp");
    instruction = find("Instruction");
    comment = find("Instruction_Comment");
  }
  Place guid, kind, function, process, thread, correlation, start, end, agent, queue, stream, dispatch, kernel,
      kernel_name, shared, scratch, vgprs, accum_vgprs, sgprs, whole_workgroup, whole_grid, counter, value, direction,
      source, destination, bytes, allocation_size, address, flags, sampled, instruction, comment;
  std::array<Place, 3> workgroup, grid;
};

Result<void> CsvReader::find_tables(const std::vector<std::string>& paths) {
  Error first;
  std::vector<std::string> statistics;
  std::vector<std::string> unknown;
  for (const std::string& path : paths) {
    Result<std::unique_ptr<json::ByteSource>> source = open_(path);
    Result<CsvTable> table = source ? CsvTable::open(std::move(*source), path, {}) : source.error();
    if (!table) {
      if (paths.size() == 1) return table.error();
      run_.report().note("unreadable_input", table.message() + "; the other tables were read");
      if (first.message.empty()) first = table.error();
      continue;
    }
    const RocprofTable is = rocprof_table_of(table->names());
    if (is == RocprofTable::statistics) {
      statistics.push_back(file_name(path));
    } else if (is != RocprofTable::none) {
      files_.push_back({path, rocprof_process_of(path), is});
    } else if (paths.size() == 1) {
      return Error{
          fmt::format("{}: this is no table that rocprofv3 writes: it has no columns Start_Timestamp and "
                      "End_Timestamp beside those of a trace",
                      path)};
    } else {
      unknown.push_back(file_name(path));
    }
  }
  run_.report().note_unread("the folder", unknown, "tables");
  run_.report().note("files_skipped",
                     fmt::format("tables of statistics were passed over, the traces beside them say the same: {}",
                                 fmt::join(statistics, ", ")),
                     statistics.size());
  if (files_.empty()) return first.message.empty() ? Error{paths.front() + ": no trace among these tables"} : first;
  std::stable_sort(files_.begin(), files_.end(),
                   [](const File& a, const File& b) { return reading_order(a.table) < reading_order(b.table); });
  return {};
}

CsvReader::Process& CsvReader::process_of(const File& file, MaybeNumber pid) {
  const auto [place, is_new] = processes_.try_emplace(file.prefix);
  if (is_new) place->second.number = run_.add_process({{}, {}, whole_number(file_name(file.prefix)), {}});
  RocmProcess& facts = run_.process(place->second.number);
  if (pid && !facts.pid) facts.pid = pid;
  return place->second;
}

Result<void> CsvReader::read(const std::vector<std::string>& paths) {
  if (Result<void> done = find_tables(paths); !done) return done;
  choose_counters();
  for (std::size_t place = 0; place < files_.size(); ++place) {
    if (run_.session().cancelled() || !run_.session().status()) break;
    read_file(files_[place]);
    if (progress_) progress_(place + 1, files_.size());
  }
  run_.report().note("rows_skipped",
                     fmt::format("rows have no begin or end that is a number, the first in line {}; they were left out",
                                 first_without_time_),
                     without_time_);
  for (const auto& [prefix, process] : processes_) {
    const auto left = std::count_if(process.held.begin(), process.held.end(),
                                    [&](const Held& held) { return !process.traced.contains(held.dispatch); });
    run_.report().note("rows_left_out", "values of counters belong to no launch of the trace and have no time",
                       static_cast<std::uint64_t>(left));
  }
  return {};
}

// The counters that any of the tables names, in the order of their names.
void CsvReader::choose_counters() {
  std::set<std::string> names;
  std::uint64_t beyond = 0;
  for (const File& file : files_) {
    if (file.table != RocprofTable::counters) continue;
    Result<std::unique_ptr<json::ByteSource>> source = open_(file.path);
    Result<CsvTable> table = source ? CsvTable::open(std::move(*source), file.path, {}) : source.error();
    if (!table) continue;
    const std::optional<std::size_t> name = table->find("Counter_Name");
    std::string last;
    bool left_out = false;
    while (table->next()) {
      if (table->cell(name) != last) {
        last = table->cell(name);
        if (names.size() < kMostCounters) names.insert(last);
        left_out = !names.contains(last);
      }
      beyond += left_out ? 1 : 0;
    }
  }
  run_.report().note(
      QualityKind("values_left_out").as(Severity::warning),
      fmt::format("values of counters beyond the first {} were left out: a table has no more columns", kMostCounters),
      beyond);
  std::vector<RocmCounter> counters;
  for (const std::string& name : names) {
    counter_places_.emplace(name, static_cast<std::uint32_t>(counters.size()));
    counters.push_back({name, {}, {}});
  }
  if (!counters.empty()) run_.set_counters(std::move(counters));
}

void CsvReader::read_file(const File& file) {
  Result<std::unique_ptr<json::ByteSource>> source = open_(file.path);
  Result<CsvTable> opened = source ? CsvTable::open(std::move(*source), file.path, {}) : source.error();
  if (!opened) return;
  CsvTable& table = *opened;
  Process& process = process_of(file);
  const Columns columns(table);
  becomes_ = becomes(file.table);
  if (file.table == RocprofTable::agents) {
    read_agents(table, process);
  } else if (file.table == RocprofTable::counters) {
    read_counters(table, process);
  } else {
    if (file.table == RocprofTable::kernels) {
      for (const File& other : files_) {
        if (other.table == RocprofTable::counters && other.prefix == file.prefix) hold_counters(other, process);
      }
    }
    constexpr std::uint64_t kLookUpEvery = 4096;
    while (table.next()) {
      if (table.rows() % kLookUpEvery == 0 && (run_.session().cancelled() || !run_.session().status())) return;
      // A table that was made of several databases says of which one each row is.
      Process& of =
          columns.guid
              ? process_of({file.path, fmt::format("{}\n{}", file.prefix, table.cell(columns.guid)), file.table},
                           table.integer(columns.process))
              : process;
      if (!columns.guid && columns.process) (void)process_of(file, table.integer(columns.process));
      switch (file.table) {
        case RocprofTable::kernels:
          read_kernel(table, columns, of);
          break;
        case RocprofTable::copies:
          read_copy(table, columns, of);
          break;
        case RocprofTable::allocations:
        case RocprofTable::scratch:
          read_allocation(table, columns, of, file.table == RocprofTable::scratch);
          break;
        case RocprofTable::samples:
          read_sample(table, columns, of);
          break;
        default:
          read_call(table, columns, of, table.cell(columns.kind).starts_with("MARKER"));
      }
    }
  }
  report_file(table, file);
}

void CsvReader::report_file(const CsvTable& table, const File& file) {
  ImportReport& report = run_.report();
  report.note("rows_skipped",
              fmt::format("{}: rows have another number of cells than the table has columns, the first in line {}; was "
                          "the file cut?",
                          file.path, table.first_bad_line()),
              table.bad_rows());
  // Launches have several rows in a table of counters.
  const bool of_events = file.table != RocprofTable::agents && file.table != RocprofTable::counters;
  if (of_events) run_.count_skipped(becomes_, table.bad_rows());
  report.add(table.blocks(), file.path);
  report.note_unread(file.path, file.table == RocprofTable::allocations || file.table == RocprofTable::scratch ||
                                        file.table == RocprofTable::counters
                                    ? table.unknown_columns()
                                    : std::vector<std::string>{});
}

void CsvReader::read_agents(CsvTable& table, Process& /*process*/) {
  const auto id = table.find("Node_Id"), type = table.find("Agent_Type"), name = table.find("Name"),
             product = table.find("Product_Name");
  std::map<std::string, std::int64_t> count;
  while (table.next()) {
    RocmAgent agent;
    const std::string kind(table.cell(type));
    agent.is_gpu = kind == "GPU";
    agent.number = count[kind]++;
    agent.name = table.cell(name);
    agent.product = table.cell(product);
    for (std::size_t column = 0; column < table.names().size(); ++column) {
      add_agent_fact(table.names()[column], table.cell(column), agent);
    }
    const MaybeNumber number = table.integer(id);
    if (!number) continue;
    // They are the host's: tables of other processes may lack their own list.
    for (const File& file : files_) run_.add_agent(process_of(file).number, *number, agent);
  }
}

// "Agent 4", "4": a node of the host; "GPU 0": the first of its kind.
MaybeNumber CsvReader::agent_of(std::string_view cell, Process& process) {
  constexpr std::int64_t kByKind = 1'000'000;  // no host has so many nodes
  const std::size_t blank = cell.rfind(' ');
  const MaybeNumber number = whole_number(blank == std::string_view::npos ? cell : cell.substr(blank + 1));
  const bool gpu = cell.starts_with("GPU");
  if (!number || !(gpu || cell.starts_with("CPU"))) return number;
  const std::int64_t id = capped_sum(gpu ? kByKind : 2 * kByKind, *number);
  run_.add_agent(process.number, id, {gpu, *number, {}, {}, {}});
  return id;
}

void CsvReader::skip_without_time(const CsvTable& table) {
  if (without_time_++ == 0) first_without_time_ = table.line();
  run_.count_skipped(becomes_);
}

bool CsvReader::place(const CsvTable& table, const Columns& columns, const Process& process, RocmRecord& record) {
  const MaybeNumber start = table.integer(columns.start);
  const MaybeNumber end = table.integer(columns.end);
  if (!start || !end) {
    skip_without_time(table);
    return false;
  }
  ++events_;
  record.process = process.number;
  record.start = *start;
  record.end = *end;
  record.category = run_.intern(table.cell(columns.kind));
  record.correlation = table.integer(columns.correlation);
  record.thread = table.integer(columns.thread);
  return true;
}

void CsvReader::hold_counters(const File& file, Process& process) {
  Result<std::unique_ptr<json::ByteSource>> source = open_(file.path);
  Result<CsvTable> table = source ? CsvTable::open(std::move(*source), file.path, {}) : source.error();
  if (!table) return;
  const Columns columns(*table);
  while (table->next()) {
    const MaybeNumber dispatch = table->integer(columns.dispatch);
    const auto counter = counter_places_.find(std::string(table->cell(columns.counter)));
    if (!dispatch || counter == counter_places_.end()) continue;
    process.held.push_back({*dispatch, counter->second, table->real(columns.value).value_or(0)});
  }
  std::stable_sort(process.held.begin(), process.held.end(),
                   [](const Held& a, const Held& b) { return a.dispatch < b.dispatch; });
}

void CsvReader::describe_dispatch(const CsvTable& table, const Columns& columns, Process& process,
                                  RocmDispatch& dispatch) {
  dispatch.agent = agent_of(table.cell(columns.agent), process);
  dispatch.queue = table.integer(columns.queue);
  dispatch.stream = table.integer(columns.stream);
  dispatch.name = run_.intern_kernel(table.cell(columns.kernel_name));
  dispatch.dispatch_id = table.integer(columns.dispatch);
  dispatch.kernel_id = table.integer(columns.kernel);
  dispatch.shared_bytes = table.integer(columns.shared);
  dispatch.scratch_bytes = table.integer(columns.scratch);
  dispatch.vgprs = table.integer(columns.vgprs);
  dispatch.accum_vgprs = table.integer(columns.accum_vgprs);
  dispatch.sgprs = table.integer(columns.sgprs);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    dispatch.workgroup[axis] = table.integer(columns.workgroup[axis]).value_or(0);
    dispatch.work_items[axis] = table.integer(columns.grid[axis]).value_or(0);
  }
}

void CsvReader::read_kernel(const CsvTable& table, const Columns& columns, Process& process) {
  RocmDispatch dispatch;
  if (!place(table, columns, process, dispatch)) return;
  describe_dispatch(table, columns, process, dispatch);
  const std::string unknown = table.unknown_cells();
  dispatch.arguments = unknown;
  std::vector<CounterValue> values;
  if (dispatch.dispatch_id) {
    process.traced.insert(*dispatch.dispatch_id);
    const auto first = std::lower_bound(process.held.begin(), process.held.end(), *dispatch.dispatch_id,
                                        [](const Held& held, std::int64_t id) { return held.dispatch < id; });
    for (auto held = first; held != process.held.end() && held->dispatch == *dispatch.dispatch_id; ++held) {
      add_value(values, held->counter, held->value);
    }
  }
  run_.write(dispatch, values);
}

void CsvReader::add_value(std::vector<CounterValue>& values, std::uint32_t counter, double value) {
  const auto known =
      std::find_if(values.begin(), values.end(), [&](const CounterValue& each) { return each.counter == counter; });
  if (known == values.end()) {
    values.push_back({counter, value});
  } else {
    known->value += value;
  }
}

// Launches that no trace has, from the table of their counters, where each has a row for every counter.
void CsvReader::read_counters(CsvTable& table, Process& process) {
  const Columns columns(table);
  if (!columns.start) return;  // values alone: they were held for the trace
  RocmDispatch dispatch;
  std::vector<CounterValue> values;
  bool any = false;
  std::uint64_t flat = 0;
  const auto write = [&] {
    if (any) run_.write(dispatch, values);
    any = false;
    values.clear();
  };
  while (table.next()) {
    const MaybeNumber id = table.integer(columns.dispatch);
    if (id && process.traced.contains(*id)) continue;
    if (!any || dispatch.dispatch_id != id) {
      write();
      dispatch = {};
      if (!place(table, columns, process, dispatch)) continue;
      describe_dispatch(table, columns, process, dispatch);
      process_pid(process, table.integer(columns.process));
      if (columns.whole_grid) {
        dispatch.work_items = {table.integer(columns.whole_grid).value_or(0), 1, 1};
        dispatch.workgroup = {table.integer(columns.whole_workgroup).value_or(0), 1, 1};
        ++flat;
      }
      any = true;
    }
    const auto counter = counter_places_.find(std::string(table.cell(columns.counter)));
    if (counter != counter_places_.end()) {
      add_value(values, counter->second, table.real(columns.value).value_or(0));
    }
  }
  write();
  run_.report().note("facts_left_out",
                     "sizes of grids and groups are told as one number; they are shown as if they had one dimension",
                     flat);
}

void CsvReader::process_pid(const Process& process, MaybeNumber pid) {
  RocmProcess& facts = run_.process(process.number);
  if (pid && !facts.pid) facts.pid = pid;
}

void CsvReader::read_copy(const CsvTable& table, const Columns& columns, Process& process) {
  RocmCopy copy;
  if (!place(table, columns, process, copy)) return;
  copy.name = run_.intern(table.cell(columns.direction));
  copy.stream = table.integer(columns.stream);
  copy.queue = table.integer(columns.queue);
  copy.source = agent_of(table.cell(columns.source), process);
  copy.destination = agent_of(table.cell(columns.destination), process);
  copy.bytes = table.integer(columns.bytes);
  const std::string unknown = table.unknown_cells();
  copy.arguments = unknown;
  run_.write(copy);
}

void CsvReader::read_allocation(const CsvTable& table, const Columns& columns, Process& process, bool scratch) {
  RocmAllocation allocation;
  if (!place(table, columns, process, allocation)) return;
  const std::string_view operation = table.cell(columns.direction);
  allocation.name = run_.intern(operation);
  allocation.type = allocation.name;
  allocation.releases = operation.ends_with("FREE") || operation.ends_with("RECLAIM");
  allocation.level = run_.intern(scratch                                            ? "SCRATCH"
                                 : operation.find("VMEM") != std::string_view::npos ? "VIRTUAL"
                                                                                    : "REAL");
  allocation.agent = agent_of(table.cell(columns.agent), process);
  allocation.queue = table.integer(columns.queue);
  allocation.bytes = table.integer(columns.allocation_size);
  allocation.address = csv_address(table.cell(columns.address));
  if (!table.cell(columns.flags).empty()) allocation.flags = run_.intern(table.cell(columns.flags));
  run_.write(allocation);
}

void CsvReader::read_call(const CsvTable& table, const Columns& columns, Process& process, bool mark) {
  RocmOnHost call;
  becomes_ = mark ? RocmTable::mark : RocmTable::call;
  if (!place(table, columns, process, call)) return;
  call.name = run_.intern(table.cell(columns.function));
  if (mark) {
    call.table = RocmHostTable::mark;
    call.mark_kind = run_.intern(call.start == call.end ? "mark" : "range");
  }
  const std::string unknown = table.unknown_cells();
  call.arguments = unknown;
  run_.write(call);
}

// Of instructions: which one a wave was at.
void CsvReader::read_sample(const CsvTable& table, const Columns& columns, Process& process) {
  const MaybeNumber time = table.integer(columns.sampled);
  if (!time) return skip_without_time(table);
  ++events_;
  RocmOnHost sample;
  sample.process = process.number;
  sample.table = RocmHostTable::sample;
  sample.start = sample.end = *time;
  const std::string_view instruction = table.cell(columns.instruction);
  sample.name = run_.intern(instruction.empty() ? "unknown instruction" : instruction);
  sample.correlation = table.integer(columns.correlation);
  sample.message = table.cell(columns.comment);
  std::string further;
  for (std::size_t column = 0; column < table.names().size(); ++column) {
    if (column == columns.sampled || column == columns.instruction || column == columns.comment ||
        column == columns.correlation) {
      continue;
    }
    further += fmt::format("{}{}={}", further.empty() ? "" : ", ", table.names()[column], table.cell(column));
  }
  sample.arguments = further;
  run_.write(sample);
}

constexpr int kSureResult = 97;
constexpr std::string_view kResultsFormat = "ROCm profile (rocprofv3 JSON)";
constexpr std::string_view kTablesFormat = "ROCm profile (rocprofv3 CSV)";

[[nodiscard]] std::vector<std::string> all_paths(const std::string& path, const ImportOptions& options) {
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.companions.begin(), options.companions.end());
  return paths;
}

// The text behind "key": in the first bytes of a result.
[[nodiscard]] std::string value_in_head(std::string_view head, std::string_view key) {
  std::size_t at = head.find(key);
  if (at == std::string_view::npos) return {};
  at = head.find_first_not_of(" \t\r\n:", at + key.size());
  if (at == std::string_view::npos || head[at] != '"') return {};
  const std::size_t end = head.find('"', at + 1);
  return end == std::string_view::npos ? std::string() : std::string(head.substr(at + 1, end - at - 1));
}

}  // namespace

std::string output_of_rocprofv3(const std::string& path) {
  constexpr std::string_view kResults = "_results.";
  const std::size_t results = path.rfind(kResults);
  return results == std::string::npos ? rocprof_process_of(path) : path.substr(0, results);
}

int probe_rocprofv3_json(std::string_view head, const std::string& /*path*/) {
  const std::size_t first = head.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || head[first] != '{') return 0;
  constexpr std::size_t kNear = 256;  // nothing comes before it but blanks
  return head.substr(first, kNear).find("\"rocprofiler-sdk-tool\"") != std::string_view::npos ? kSureResult : 0;
}

std::string run_of_rocprofv3_json(const FileHead& head) {
  const std::string machine = value_in_head(head.bytes, "\"machine_id\"");
  const std::string host = value_in_head(head.bytes, "\"hostname\"");
  return machine.empty() && host.empty() ? std::string() : machine + " " + host;
}

Result<void> import_rocprofv3_json(const std::string& path, const ImportOptions& options, EventSink& sink) {
  RocmRun run(sink);
  const std::vector<std::string> paths = all_paths(path, options);
  std::vector<Error> failures;
  bool counters_chosen = false;
  for (const std::string& each : paths) {
    Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(each);
    ResultsReader reader(run, each);
    if (counters_chosen) reader.keep_counters();
    const Result<void> done = source ? reader.read(std::move(*source), options.progress) : source.error();
    counters_chosen = true;  // the table of kernels is made
    if (!done) failures.push_back(done.error());
  }
  if (failures.size() == paths.size()) return failures.front();
  for (const Error& failure : failures) {
    run.report().note("unreadable_input", failure.message + "; the other files of the run were read");
  }
  return run.finish({std::string(kResultsFormat), path});
}

int probe_rocprof_csv(std::string_view head, const std::string& /*path*/) {
  constexpr int kSureRocprof = 90;
  std::vector<std::string> columns;
  return split_csv(head.substr(0, head.find('\n')), ',', columns) && is_rocprof_table(columns) ? kSureRocprof : 0;
}

std::string output_of_rocprof(const std::string& path) {
  return std::filesystem::path(path).replace_extension().string();
}

Result<void> import_rocprof_csv(const std::string& path, const ImportOptions& options, EventSink& sink) {
  CsvTable table = TRY(CsvTable::open(path, {}));
  RocmRun run(sink);
  ReadingProgress progress{options.progress, 0, 0};
  if (Result<void> done = RocprofReader(run, progress).read(table, path); !done) return done;
  return run.finish({"rocprof results (CSV)", path});
}

int probe_rocprofv3_csv(std::string_view head, const std::string& /*path*/) { return probe_rocprof_table(head); }

// All tables of a folder are of processes of one host.
std::string run_of_rocprofv3_csv(const FileHead& head) {
  return std::filesystem::path(head.path).parent_path().lexically_normal().string() + "/";
}

Result<void> import_rocprofv3_csv(const std::string& path, const ImportOptions& options, EventSink& sink) {
  RocmRun run(sink);
  CsvReader reader(
      run, [](const std::string& file) { return json::ByteSource::open(file); }, options.progress);
  if (Result<void> done = reader.read(all_paths(path, options)); !done) return done;
  return run.finish({std::string(kTablesFormat), path});
}

}  // namespace accelscope::capture::sources::rocm
