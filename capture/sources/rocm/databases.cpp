// Databases: rocpd of rocprofv3, and rpd of rocmProfileData.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "capture/json/json_cursor.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/rocm/rocpd/reader.h"
#include "capture/sources/rocm/rocprof/reader.h"
#include "capture/sources/rocm/run/records.h"
#include "capture/sources/rocm/run/run.h"
#include "capture/sources/sqlite/id_rows.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::rocm {
namespace {

// Reads a database of rocmProfileData (rpd) into a run: what ran on devices, the calls that started it, samples of
// monitors.
class RpdReader {
 public:
  RpdReader(const sqlite::ForeignDatabase& database, RocmRun& run, ReadingProgress& progress);
  void read();

 private:
  struct Launch {  // the call that started work
    MaybeNumber id;
    std::uint32_t process = 0;
    MaybeNumber thread;
    bool counts_work_items = false;
  };
  struct ApiName {
    StringId name = 0;
    bool marks = false;
    bool counts_work_items = false;
  };

  void read_operations();
  void read_calls();
  void read_monitors();
  void add_counters();
  template <typename Visit>
  void each_row(std::string_view table, std::span<const std::string_view> columns, const Visit& visit);
  void write_kernel(const sqlite::ForeignRows& rows, const Launch& launch, std::string_view type);
  void write_copy(const sqlite::ForeignRows& rows, const Launch& launch, bool fills);
  [[nodiscard]] Launch launch_of(std::int64_t operation);
  [[nodiscard]] std::uint32_t process_of(MaybeNumber pid);
  void place(const sqlite::ForeignRows& rows, const Launch& launch, RocmOnDevice& event);
  [[nodiscard]] const ApiName& api_name(MaybeNumber id);
  [[nodiscard]] std::string stack_of(std::int64_t call);
  [[nodiscard]] std::string label_of(std::int64_t call);
  [[nodiscard]] std::vector<CounterValue> counters_of(std::int64_t operation);

  const sqlite::ForeignDatabase& database_;
  RocmRun& run_;
  ReadingProgress& progress_;
  NamedIds strings_;
  NamedIds own_strings_;  // of arguments, where they have a table of their own
  bool has_own_strings_ = false;
  sqlite::KeyedRows launches_;      // by operation
  sqlite::KeyedRows calls_;         // by id
  sqlite::KeyedRows kernel_calls_;  // by call
  sqlite::KeyedRows copy_calls_;
  sqlite::KeyedRows kernel_operations_;  // by operation; of old versions
  sqlite::KeyedRows copy_operations_;
  std::unique_ptr<sqlite::KeyedRows> counts_;
  std::unique_ptr<sqlite::KeyedRows> frames_;
  std::unique_ptr<sqlite::KeyedRows> callers_;
  std::map<std::int64_t, std::uint32_t> processes_;  // by pid
  std::unordered_map<std::int64_t, ApiName> api_names_;
  std::map<std::int64_t, std::uint32_t> counter_places_;
  std::uint64_t further_launches_ = 0;
  std::uint64_t without_call_ = 0;
};

using sqlite::ForeignDatabase;
using sqlite::ForeignRows;
using sqlite::KeyedRows;

constexpr std::string_view kOperations = "rocpd_op", kCalls = "rocpd_api", kMonitors = "rocpd_monitor";
constexpr std::string_view kUserMarker = "UserMarker";
// Their grids are counted in work-items, those of all others in groups.
constexpr std::array<std::string_view, 2> kLaunchesOfWorkItems = {"hipExtModuleLaunchKernel",
                                                                  "hipHccModuleLaunchKernel"};

struct MonitorUnit {
  std::string_view monitor;
  std::string_view unit;
};
constexpr std::array kMonitorUnits = {MonitorUnit{"sclk", "MHz"}, MonitorUnit{"mclk", "MHz"},
                                      MonitorUnit{"fclk", "MHz"}, MonitorUnit{"power", "W"}, MonitorUnit{"temp", "°C"}};

[[nodiscard]] std::string unit_of_monitor(std::string_view monitor) {
  for (const MonitorUnit& row : kMonitorUnits) {
    if (monitor.starts_with(row.monitor)) return std::string(row.unit);
  }
  return {};
}

// "0x7f4043dc6040", or a number.
[[nodiscard]] std::optional<std::uint64_t> rpd_address(std::string_view text) {
  const bool hexadecimal = text.starts_with("0x");
  if (hexadecimal) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
  if (wrong != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

[[nodiscard]] MaybeNumber handle_of(std::string_view text) {
  const auto address = rpd_address(text);
  return address ? MaybeNumber(static_cast<std::int64_t>(*address)) : MaybeNumber();
}

[[nodiscard]] RocmHostTable table_of_domain(std::string_view domain, bool marks) {
  if (marks || domain == "roctx" || domain == "nvtx") return RocmHostTable::mark;
  constexpr std::array<std::string_view, 6> kRuntimes = {"", "hip", "hsa", "cuda", "rccl", "nccl"};
  const bool runtime = std::find(kRuntimes.begin(), kRuntimes.end(), domain) != kRuntimes.end();
  return runtime ? RocmHostTable::call : RocmHostTable::region;
}

RpdReader::RpdReader(const ForeignDatabase& database, RocmRun& run, ReadingProgress& progress)
    : database_(database),
      run_(run),
      progress_(progress),
      strings_(run, database, "rocpd_string", "string"),
      own_strings_(run, database, "rocpd_ustring", "string"),
      has_own_strings_(database.has_table("rocpd_ustring")),
      launches_(database, "rocpd_api_ops", "op_id", {"api_id"}),
      calls_(database, kCalls, "id", {"pid", "tid", "apiName_id", "args_id"}),
      kernel_calls_(database, "rocpd_kernelapi", "api_ptr_id",
                    {"stream", "gridX", "gridY", "gridZ", "workgroupX", "workgroupY", "workgroupZ", "groupSegmentSize",
                     "privateSegmentSize", "kernelName_id"}),
      copy_calls_(database, "rocpd_copyapi", "api_ptr_id",
                  {"stream", "size", "kind", "dst", "src", "dstDevice", "srcDevice", "sync", "pinned"}),
      kernel_operations_(database, "rocpd_kernelop", "op_ptr_id",
                         {"completionSignal", "gridX", "gridY", "gridz", "workgroupX", "workgroupY", "workgroupZ",
                          "groupSegmentSize", "privateSegmentSize", "kernelName_id"}),
      copy_operations_(database, "rocpd_copyop", "op_ptr_id",
                       {"stream", "size", "kind", "dstAddress", "srcAddress", "dst", "src", "sync", "pinned"}) {}

void RpdReader::read() {
  for (const std::string_view table : {kOperations, kCalls, kMonitors}) {
    progress_.total += sqlite::last_id(database_, table) & 0xffffffffU;  // ids of a session begin at 2^32 + 1
  }
  add_counters();
  read_operations();
  read_calls();
  read_monitors();
  ImportReport& report = run_.report();
  report.note("relations_open", "texts are named that the file does not have; they are called by their numbers",
              strings_.missing() + own_strings_.missing());
  report.note("relations_open", "operations belong to several calls; the first one is shown", further_launches_);
  report.note("flow_without_partner",
              "operations of devices name no call that started them, so there is no arrow for them", without_call_);
}

template <typename Visit>
void RpdReader::each_row(std::string_view table, std::span<const std::string_view> columns, const Visit& visit) {
  constexpr std::uint64_t kLookUpEvery = 4096;
  sqlite::IdRows rows(database_, table, columns);
  std::uint64_t read = 0;
  while (rows.next()) {
    visit(rows.rows());
    ++progress_.done;
    if (++read % kLookUpEvery != 0) continue;
    progress_.inform();
    if (run_.session().cancelled() || !run_.session().status()) return;
  }
  run_.report().note(
      "unreadable",
      fmt::format("rows of {} lie on damaged pages ({}); {} others were read", table, rows.failure(), read),
      rows.gaps());
}

std::uint32_t RpdReader::process_of(MaybeNumber pid) {
  if (!pid && !processes_.empty()) return processes_.begin()->second;
  const auto known = processes_.find(pid.value_or(0));
  if (known != processes_.end()) return known->second;
  const std::uint32_t process = run_.add_process({{}, {}, pid, {}});
  processes_.emplace(pid.value_or(0), process);
  return process;
}

// Counters of kernels that the newest version has.
void RpdReader::add_counters() {
  Result<ForeignRows> names = database_.rows("rocpd_counter", {"name_id"}, " GROUP BY \"name_id\"");
  std::vector<RocmCounter> counters;
  while (names && names->next() && counters.size() < 400) {
    counter_places_.emplace(names->integer(0), static_cast<std::uint32_t>(counters.size()));
    counters.push_back({std::string(strings_.text(names->integer(0))), {}, {}});
  }
  if (counters.empty()) return;
  run_.set_counters(std::move(counters));
  counts_ = std::make_unique<KeyedRows>(database_, "rocpd_counter", "op_id",
                                        std::initializer_list<std::string_view>{"name_id", "value"});
}

std::vector<CounterValue> RpdReader::counters_of(std::int64_t operation) {
  std::vector<CounterValue> values;
  if (!counts_) return values;
  for (bool any = counts_->find(operation); any; any = counts_->next()) {
    const auto place = counter_places_.find(counts_->rows().integer(0));
    if (place != counter_places_.end()) values.push_back({place->second, counts_->rows().real(1)});
  }
  return values;
}

const RpdReader::ApiName& RpdReader::api_name(MaybeNumber id) {
  const auto known = api_names_.find(id.value_or(0));
  if (known != api_names_.end()) return known->second;
  ApiName name;
  if (id) {
    const std::string text(strings_.text(*id));
    name.name = run_.intern(text);
    name.marks = text == kUserMarker;
    name.counts_work_items =
        std::find(kLaunchesOfWorkItems.begin(), kLaunchesOfWorkItems.end(), text) != kLaunchesOfWorkItems.end();
  }
  return api_names_.emplace(id.value_or(0), name).first->second;
}

RpdReader::Launch RpdReader::launch_of(std::int64_t operation) {
  Launch launch;
  for (bool any = launches_.find(operation); any; any = launches_.next()) {
    if (launch.id) {
      ++further_launches_;
    } else {
      launch.id = launches_.rows().number(0);
    }
  }
  if (!launch.id) ++without_call_;
  if (launch.id && calls_.find(*launch.id)) {
    launch.process = process_of(calls_.rows().number(0));
    launch.thread = calls_.rows().number(1);
    launch.counts_work_items = api_name(calls_.rows().number(2)).counts_work_items;
  } else {
    launch.process = process_of({});
  }
  return launch;
}

void RpdReader::place(const ForeignRows& rows, const Launch& launch, RocmOnDevice& event) {
  event.process = launch.process;
  event.thread = launch.thread;
  event.correlation = launch.id;
  event.agent = rows.number(1);
  event.queue = rows.number(2);
  event.rows_by_queue = true;  // streams are addresses
  event.start = rows.integer(3);
  event.end = rows.integer(4);
  event.category = strings_.name(rows.number(6));
  event.name = strings_.name(rows.number(5));
  if (event.name == 0) event.name = event.category;
  if (event.agent) {
    run_.add_agent(event.process, *event.agent, {true, *event.agent, {}, {}, {}});
  }
}

void RpdReader::write_kernel(const ForeignRows& rows, const Launch& launch, std::string_view type) {
  RocmDispatch dispatch;
  place(rows, launch, dispatch);
  const std::int64_t operation = rows.integer(0);
  dispatch.dispatch_id = operation;
  const bool by_call = launch.id && kernel_calls_.find(*launch.id);
  if (by_call || kernel_operations_.find(operation)) {
    const ForeignRows& call = by_call ? kernel_calls_.rows() : kernel_operations_.rows();
    dispatch.stream = handle_of(call.text(0));
    Extent& grid = launch.counts_work_items ? dispatch.work_items : dispatch.groups;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      grid[axis] = call.integer(1 + axis);
      dispatch.workgroup[axis] = call.integer(4 + axis);
    }
    dispatch.shared_bytes = call.number(7);
    dispatch.scratch_bytes = call.number(8);
    if (dispatch.name == dispatch.category && call.integer(9) != 0) dispatch.name = strings_.name(call.number(9));
  }
  const MaybeNumber description = rows.number(5);
  if (type == "KernelExecution" && description && dispatch.name != dispatch.category) {
    dispatch.name = run_.intern_kernel(strings_.text(*description));
  }
  run_.write(dispatch, counters_of(operation));
}

void RpdReader::write_copy(const ForeignRows& rows, const Launch& launch, bool fills) {
  RocmCopy copy;
  place(rows, launch, copy);
  copy.fills = fills;
  const bool by_call = launch.id && copy_calls_.find(*launch.id);
  if (by_call || copy_operations_.find(rows.integer(0))) {
    const ForeignRows& call = by_call ? copy_calls_.rows() : copy_operations_.rows();
    copy.stream = handle_of(call.text(0));
    copy.bytes = call.number(1);
    copy.destination_address = rpd_address(call.text(3));
    copy.source_address = rpd_address(call.text(4));
  }
  run_.write(copy);
}

void RpdReader::read_operations() {
  constexpr std::array<std::string_view, 7> kColumns = {"id",  "gpuId",          "queueId",  "start",
                                                        "end", "description_id", "opType_id"};
  each_row(kOperations, kColumns, [&](const ForeignRows& rows) {
    const Launch launch = launch_of(rows.integer(0));
    const std::string type(rows.has(6) ? strings_.text(rows.integer(6)) : std::string_view{});
    if (type.starts_with("Copy") || type.starts_with("Fill")) {
      write_copy(rows, launch, type.starts_with("Fill"));
    } else {
      write_kernel(rows, launch, type);
    }
  });
}

// What a mark or range is called; the function otherwise.
std::string RpdReader::label_of(std::int64_t call) {
  if (!calls_.find(call)) return fmt::format("call {}", call);
  const MaybeNumber function = calls_.rows().number(2);
  const MaybeNumber arguments = calls_.rows().number(3);
  if (arguments && api_name(function).marks) {
    return std::string((has_own_strings_ ? own_strings_ : strings_).text(*arguments));
  }
  return function ? std::string(strings_.text(*function)) : fmt::format("call {}", call);
}

// Innermost first. Either the frames that were recorded, or the calls that the file lists as being around it.
std::string RpdReader::stack_of(std::int64_t call) {
  std::vector<std::pair<std::int64_t, std::string>> frames;
  if (frames_) {
    for (bool any = frames_->find(call); any; any = frames_->next()) {
      frames.emplace_back(frames_->rows().integer(0), strings_.text(frames_->rows().integer(1)));
    }
  }
  if (frames.empty() && callers_) {
    for (bool any = callers_->find(call); any; any = callers_->next()) {
      frames.emplace_back(callers_->rows().integer(0), label_of(callers_->rows().integer(1)));
    }
  }
  std::stable_sort(frames.begin(), frames.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [depth, frame] : frames) text += (text.empty() ? "" : "\n") + frame;
  return text;
}

void RpdReader::read_calls() {
  constexpr std::array<std::string_view, 9> kColumns = {"id",         "pid",     "tid",       "start",      "end",
                                                        "apiName_id", "args_id", "domain_id", "category_id"};
  if (database_.has_table("rocpd_stackframe")) {
    frames_ = std::make_unique<KeyedRows>(database_, "rocpd_stackframe", "api_ptr_id",
                                          std::initializer_list<std::string_view>{"depth", "name_id"});
  }
  if (database_.has_table("ext_callstack")) {
    callers_ = std::make_unique<KeyedRows>(database_, "ext_callstack", "child_id",
                                           std::initializer_list<std::string_view>{"depth", "parent_id"});
  }
  std::string arguments;
  std::string stack;
  each_row(kCalls, kColumns, [&](const ForeignRows& rows) {
    RocmOnHost call;
    call.process = process_of(rows.number(1));
    call.thread = rows.number(2);
    call.start = rows.integer(3);
    call.end = rows.integer(4);
    call.correlation = rows.number(0);
    const ApiName& function = api_name(rows.number(5));
    call.name = function.name;
    const MaybeNumber text = rows.number(6);
    arguments = text ? std::string((has_own_strings_ ? own_strings_ : strings_).text(*text)) : std::string();
    const std::string domain(rows.integer(7) != 0 ? strings_.text(rows.integer(7)) : std::string_view{});
    call.table = table_of_domain(domain, function.marks);
    call.category = rows.integer(8) != 0 ? strings_.name(rows.number(8)) : run_.intern(domain);
    if (call.table == RocmHostTable::mark) call.mark_kind = run_.intern(call.start == call.end ? "mark" : "range");
    if (function.marks && !arguments.empty()) {
      call.name = run_.intern(arguments);
    } else {
      call.arguments = arguments;
    }
    stack = stack_of(rows.integer(0));
    call.call_stack = stack;
    run_.write(call);
  });
}

void RpdReader::read_monitors() {
  constexpr std::array<std::string_view, 6> kColumns = {"id",          "deviceType", "deviceId",
                                                        "monitorType", "start",      "value"};
  each_row(kMonitors, kColumns, [&](const ForeignRows& rows) {
    const std::string monitor(rows.text(3));
    const std::uint32_t process = process_of({});
    MaybeNumber agent;
    if (rows.text(1) == "gpu") {
      agent = rows.number(2);
      if (agent) run_.add_agent(process, *agent, {true, *agent, {}, {}, {}});
    }
    const std::string name = agent ? monitor : fmt::format("{} {} {}", rows.text(1), rows.integer(2), monitor);
    run_.sample(run_.counter_row(process, agent, name, unit_of_monitor(monitor)), rows.integer(4), rows.real(5));
  });
}

// Reads the database that ROCm Compute Profiler's analysis writes into a run: launches, and the figures of kernels.
class ComputeReader {
 public:
  ComputeReader(const sqlite::ForeignDatabase& database, RocmRun& run, ReadingProgress& progress)
      : database_(database), run_(run), progress_(progress) {}
  void read();

 private:
  struct Figure {  // what a metric is
    StringId id = 0, name = 0, table = 0, part = 0, unit = 0;
  };
  void read_facts();
  void read_kernels();
  void read_launches();
  void read_values();
  void read_workload_values();
  static void put_figure(tracks::EventValues& values, const Figure& figure, StringId kind);
  void read_rooflines();

  const sqlite::ForeignDatabase& database_;
  RocmRun& run_;
  ReadingProgress& progress_;
  std::map<std::int64_t, StringId> kernels_;
  std::map<std::int64_t, StringId> workloads_;
  std::map<std::int64_t, Figure> figures_;
  std::uint32_t process_ = 0;
};

using namespace columns;
using sqlite::ForeignRows;

constexpr ColumnSpec kFigureColumns[] = {
    {"metric_id", kString, "", kIds, "Number", "The tool's number of the figure."},
    {"metric", kString, "", kOperation, "Figure", "What is measured."},
    {"table_name", kString, "", kOperation, "Table", "The tool's table that it belongs to."},
    {"sub_table_name", kString, "", kOperation, "Part", "The part of that table."},
    {"value_name", kString, "", kOperation, "Kind", "Whether it is the mean, the least, the greatest ..."},
    {"value", kReal, "", kOperation, "Value", "The figure."},
    {"unit", kString, "", kOperation, "Unit", "Its unit."},
};
constexpr ColumnSpec kRooflineColumns[] = {
    {"total_flops", kReal, "", kOperation, "Operations", "Floating point operations."},
    {"l1_cache_data", kReal, "B", kMemory, "L1", "Bytes that the first cache moved."},
    {"l2_cache_data", kReal, "B", kMemory, "L2", "Bytes that the second cache moved."},
    {"hbm_cache_data", kReal, "B", kMemory, "HBM", "Bytes that the device's memory moved."},
    {"lds_cache_data", kReal, "B", kMemory, "LDS", "Bytes that the memory of groups moved."},
};

[[nodiscard]] std::uint32_t add_table_row(RocmRun& run, const char* name, std::span<const ColumnSpec> columns,
                                          const char* name_column = "kernel",
                                          const char* explanation = "The function that it is said of.") {
  const std::uint32_t table =
      run.session().add_table(make_schema({name, EventKind::table, name_column, explanation}, columns));
  return run.session().add_track(table, {.name = name, .kind = "table"}, {tracks::kProfilerRows, 1});
}

void ComputeReader::read() {
  process_ = run_.add_process({});
  read_facts();
  read_kernels();
  read_launches();
  read_values();
  read_workload_values();
  read_rooflines();
  const Result<std::int64_t> samples = database_.row_count("compute_pcsampling");
  database_.count_as_read("compute_pcsampling");
  run_.report().note("rows_left_out", "samples of instructions are not read",
                     samples ? static_cast<std::uint64_t>(std::max<std::int64_t>(*samples, 0)) : 0);
}

void ComputeReader::read_facts() {
  Result<ForeignRows> versions =
      database_.rows("compute_metadata", {"compute_version", "schema_version", "git_version"});
  SessionWriter& writer = run_.session().writer();
  if (versions && versions->next()) {
    writer.set_meta("compute_version", std::string(versions->text(0)));
    writer.set_meta("schema_version", std::string(versions->text(1)));
  }
  Result<ForeignRows> workloads =
      database_.rows("compute_workload", {"workload_id", "name", "sub_name", "sys_info_extdata"});
  while (workloads && workloads->next()) {
    const std::string prefix = fmt::format("workload.{}.", workloads->integer(0));
    workloads_[workloads->integer(0)] = run_.intern(workloads->text(1));
    writer.set_meta(prefix + "name", std::string(workloads->text(1)));
    if (!workloads->text(2).empty()) writer.set_meta(prefix + "sub_name", std::string(workloads->text(2)));
    (void)json::each_member(workloads->text(3), [&](const json::JsonField& field) {
      const bool plain = field.kind == json::JsonKind::string || field.kind == json::JsonKind::number;
      if (plain && !field.text.empty()) writer.set_meta(prefix + std::string(field.key), std::string(field.text));
      return true;
    });
  }
}

void ComputeReader::read_kernels() {
  Result<ForeignRows> rows = database_.rows("compute_kernel", {"kernel_uuid", "kernel_name"});
  while (rows && rows->next()) kernels_[rows->integer(0)] = run_.intern_kernel(rows->text(1));
  Result<ForeignRows> figures = database_.rows(
      "compute_metric_definition", {"metric_uuid", "metric_id", "name", "table_name", "sub_table_name", "unit"});
  while (figures && figures->next()) {
    figures_[figures->integer(0)] = {run_.intern(figures->text(1)), run_.intern(figures->text(2)),
                                     run_.intern(figures->text(3)), run_.intern(figures->text(4)),
                                     run_.intern(figures->text(5))};
  }
}

void ComputeReader::read_launches() {
  Result<ForeignRows> rows =
      database_.rows("compute_dispatch", {"kernel_uuid", "dispatch_id", "gpu_id", "start_timestamp", "end_timestamp"});
  std::uint64_t without_time = 0;
  while (rows && rows->next()) {
    if (!rows->has(3) || !rows->has(4)) {
      ++without_time;
      continue;
    }
    RocmDispatch dispatch;
    dispatch.process = process_;
    dispatch.start = rows->integer(3);
    dispatch.end = rows->integer(4);
    dispatch.dispatch_id = rows->number(1);
    dispatch.agent = rows->number(2);
    if (dispatch.agent) run_.add_agent(process_, *dispatch.agent, {true, *dispatch.agent, {}, {}, {}});
    const auto kernel = kernels_.find(rows->integer(0));
    dispatch.name = kernel == kernels_.end() ? run_.intern(fmt::format("kernel {}", rows->integer(0))) : kernel->second;
    run_.write(dispatch);
    ++progress_.done;
  }
  progress_.inform();
  run_.count_skipped(RocmTable::kernel, without_time);
  run_.report().note("rows_skipped", "launches have no begin and end, and were left out", without_time);
  if (rows && !rows->status())
    run_.report().note("unreadable", "launches lie on damaged pages: " + rows->status().message());
}

void ComputeReader::read_values() {
  // Of before version 1.3 of its tables.
  const std::string_view table =
      database_.has_table("compute_kernel_metric_value") ? "compute_kernel_metric_value" : "compute_metric_value";
  Result<ForeignRows> rows = database_.rows(table, {"kernel_uuid", "metric_uuid", "value_name", "value"});
  if (!rows || !rows->has_column(0)) return;
  const std::uint32_t row = add_table_row(run_, "kernel_metric", kFigureColumns);
  tracks::EventValues values;
  while (rows->next()) {
    const auto kernel = kernels_.find(rows->integer(0));
    const auto known = figures_.find(rows->integer(1));
    const Figure figure = known == figures_.end() ? Figure{} : known->second;
    put_figure(values, figure, run_.intern(rows->text(2)));
    if (rows->has(3)) values.real(5, rows->real(3));
    run_.session().write(row, 0, 0, kernel == kernels_.end() ? 0 : kernel->second, values);
    ++progress_.done;
  }
  if (!rows->status()) run_.report().note("unreadable", "figures lie on damaged pages: " + rows->status().message());
}

// Of a whole workload: figures of all its launches together.
void ComputeReader::read_workload_values() {
  Result<ForeignRows> rows =
      database_.rows("compute_workload_metric_value", {"workload_id", "metric_uuid", "value_name", "value"});
  if (!rows || !rows->has_column(1)) return;
  const std::uint32_t row = add_table_row(run_, "workload_metric", kFigureColumns, "workload", "The workload.");
  tracks::EventValues values;
  while (rows->next()) {
    const auto known = figures_.find(rows->integer(1));
    const auto workload = workloads_.find(rows->integer(0));
    put_figure(values, known == figures_.end() ? Figure{} : known->second, run_.intern(rows->text(2)));
    if (rows->has(3)) values.real(5, rows->real(3));
    const bool only = workload == workloads_.end() && workloads_.size() == 1;
    const StringId name = only ? workloads_.begin()->second : workload == workloads_.end() ? 0 : workload->second;
    run_.session().write(row, 0, 0, name, values);
    ++progress_.done;
  }
  if (!rows->status())
    run_.report().note("unreadable", "figures of workloads lie on damaged pages: " + rows->status().message());
}

void ComputeReader::put_figure(tracks::EventValues& values, const Figure& figure, StringId kind) {
  values.clear();
  values.string(0, figure.id);
  values.string(1, figure.name);
  values.string(2, figure.table);
  values.string(3, figure.part);
  values.string(4, kind);
  values.string(6, figure.unit);
}

void ComputeReader::read_rooflines() {
  const std::string_view table =
      database_.has_table("compute_kernel_roofline_data") ? "compute_kernel_roofline_data" : "compute_roofline_data";
  Result<ForeignRows> rows = database_.rows(
      table, {"kernel_uuid", "total_flops", "l1_cache_data", "l2_cache_data", "hbm_cache_data", "lds_cache_data"});
  if (!rows || !rows->has_column(0)) return;
  const std::uint32_t row = add_table_row(run_, "kernel_roofline", kRooflineColumns);
  tracks::EventValues values;
  while (rows->next()) {
    const auto kernel = kernels_.find(rows->integer(0));
    values.clear();
    for (std::size_t column = 0; column < 5; ++column) {
      if (rows->has(column + 1)) values.real(column, rows->real(column + 1));
    }
    run_.session().write(row, 0, 0, kernel == kernels_.end() ? 0 : kernel->second, values);
  }
}

constexpr int kSureDatabase = 95;

struct RocmWord {
  std::string_view word;
  RocmDatabase database;
};
// The first one counts that is among the tables' declarations in the file's first pages.
constexpr RocmWord kRocmWords[] = {
    {"rocpd_api_ops", RocmDatabase::rpd},           {"rocpd_kernelapi", RocmDatabase::rpd},
    {"rocpd_info_", RocmDatabase::rocpd},           {"compute_workload", RocmDatabase::compute},
    {"CREATE TABLE KERN (", RocmDatabase::rocprof}, {"CREATE TABLE OPS (\"BeginNs\"", RocmDatabase::rocprof}};

[[nodiscard]] RocmDatabase rocm_database_in(const FileHead& head) {
  for (const RocmWord& word : kRocmWords) {
    if (head.bytes.find(word.word) != std::string::npos) return word.database;
  }
  return head.database ? rocm_database_of(head.database->tables()) : RocmDatabase::none;
}

struct OpenedRocpd {
  std::string path;
  sqlite::ForeignDatabase database;
  std::vector<RocpdPart> parts;
};

[[nodiscard]] Result<OpenedRocpd> open_rocpd(const std::string& path) {
  sqlite::ForeignDatabase database = TRY(sqlite::ForeignDatabase::open(path));
  std::vector<RocpdPart> parts = TRY(find_rocpd_parts(database));
  if (parts.empty()) {
    return Error{
        fmt::format("{}: no tables of rocpd in this database; was the profiler stopped before it wrote any?", path)};
  }
  return OpenedRocpd{path, std::move(database), std::move(parts)};
}

void note_version(const OpenedRocpd& file, const RocpdPart& part, RocmRun& run) {
  constexpr std::string_view kKnown = "34";
  const std::string_view version = part.fact("schema_version");
  if (version.empty()) {
    run.report().note("facts_left_out",
                      "the database does not say which version its tables have; they were read by "
                      "the names of their columns");
  } else if (kKnown.find(version.front()) == std::string_view::npos) {
    run.report().note("vendor_warning",
                      fmt::format("{}: version {} of rocpd is not known here; its tables were read by the names of "
                                  "their columns, and may mean something else",
                                  file.path, version));
  }
  if (file.database.is_cut()) {
    run.report().note("truncated",
                      fmt::format("{}: the file ends before its last page; what it still holds was read", file.path));
  }
}

}  // namespace

int probe_rocpd(const FileHead& head) { return rocm_database_in(head) == RocmDatabase::rocpd ? kSureDatabase : 0; }

int probe_rpd(const FileHead& head) { return rocm_database_in(head) == RocmDatabase::rpd ? kSureDatabase : 0; }

int probe_rocprof_compute(const FileHead& head) {
  return rocm_database_in(head) == RocmDatabase::compute ? kSureDatabase : 0;
}

int probe_rocprof_database(const FileHead& head) {
  return rocm_database_in(head) == RocmDatabase::rocprof ? kSureDatabase : 0;
}

std::string run_of_rocpd(const FileHead& head) { return head.database ? rocpd_machine(*head.database) : std::string(); }

Result<void> import_rocpd(const std::string& path, const ImportOptions& options, EventSink& sink) {
  RocmRun run(sink);
  std::vector<OpenedRocpd> files;
  RocpdCounters counters;
  ReadingProgress progress{options.progress, 0, 0};
  std::vector<std::string> paths = {path};
  paths.insert(paths.end(), options.companions.begin(), options.companions.end());
  Error first_failure;
  for (const std::string& each : paths) {
    Result<OpenedRocpd> file = open_rocpd(each);
    if (!file) {
      if (paths.size() == 1) return file.error();
      run.report().note("unreadable_input", file.message() + "; the other files of the run were read");
      first_failure = file.error();
      continue;
    }
    for (const RocpdPart& part : file->parts) {
      counters.add(file->database, part);
      progress.total += rocpd_events(file->database, part);
    }
    files.push_back(std::move(*file));
  }
  if (files.empty()) return first_failure;
  run.set_counters(counters.columns());
  for (const OpenedRocpd& file : files) {
    const Result<sqlite::ForeignDatabase> ahead = file.database.another();
    if (!ahead) return Error{fmt::format("{}: cannot be read as a database: {}", file.path, ahead.message())};
    for (const RocpdPart& part : file.parts) {
      note_version(file, part, run);
      RocpdReader(file.database, *ahead, part, counters, run, progress).read();
    }
    run.report().note_unread(file.path, file.database.unread_tables(), "tables");
    run.report().note_unread(file.path, file.database.unread_columns());
  }
  const std::string_view version = files.front().parts.front().fact("schema_version");
  return run.finish({"ROCm profile (rocpd " + std::string(version) + ")", path});
}

namespace {

// Databases that stand for themselves.
template <typename Read>
Result<void> import_alone(const std::string& path, const ImportOptions& options, EventSink& sink,
                          const char* source_format, const Read& read) {
  sqlite::ForeignDatabase database = TRY(sqlite::ForeignDatabase::open(path));
  RocmRun run(sink);
  if (database.is_cut()) {
    run.report().note("truncated", "the file ends before its last page; what it still holds was read");
  }
  ReadingProgress progress{options.progress, 0, 0};
  read(database, run, progress);
  run.report().note_unread(path, database.unread_tables(), "tables");
  run.report().note_unread(path, database.unread_columns());
  return run.finish({source_format, path});
}

}  // namespace

Result<void> import_rpd(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(
      path, options, sink, "RPD trace (rocmProfileData)",
      [](const auto& database, RocmRun& run, ReadingProgress& progress) { RpdReader(database, run, progress).read(); });
}

Result<void> import_rocprof_compute(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(path, options, sink, "ROCm Compute Profiler analysis",
                      [](const auto& database, RocmRun& run, ReadingProgress& progress) {
                        ComputeReader(database, run, progress).read();
                      });
}

Result<void> import_rocprof_database(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return import_alone(path, options, sink, "rocprof database",
                      [](const auto& database, RocmRun& run, ReadingProgress& progress) {
                        RocprofReader(run, progress).read(database);
                      });
}

}  // namespace accelscope::capture::sources::rocm
