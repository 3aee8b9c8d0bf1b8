#include "capture/sources/rocm/rpd/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

namespace accelscope::capture::sources::rocm {
namespace {

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

}  // namespace

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
    progress_.say();
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

}  // namespace accelscope::capture::sources::rocm
