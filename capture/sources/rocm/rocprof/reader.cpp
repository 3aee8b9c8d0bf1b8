#include "capture/sources/rocm/rocprof/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

namespace accelscope::capture::sources::rocm {
namespace {

using sqlite::ForeignRows;

constexpr std::string_view kKernelTable = "KERN", kOperationTable = "OPS", kCopyTable = "COPY", kHipTable = "HIP",
                           kHsaTable = "HSA", kMarkTable = "rocTX";
constexpr std::size_t kMostRocprofCounters = 400;

// Numbers and handles of a launch that no column of kernels is for.
constexpr std::array<std::string_view, 5> kFurtherFacts = {"queue-index", "fbar", "wave_size", "sig", "obj"};
// The difference of two other columns.
constexpr std::string_view kDuration = "DurationNs";

[[nodiscard]] std::optional<std::size_t> place_in(const std::vector<std::string>& columns, std::string_view name) {
  const auto found = std::find(columns.begin(), columns.end(), name);
  if (found == columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - columns.begin());
}

// Names lie in the database with the quotes that the table of text has around them.
[[nodiscard]] std::string_view without_quotes(std::string_view text) {
  if (text.size() < 2 || !text.starts_with('"') || !text.ends_with('"')) return text;
  return text.substr(1, text.size() - 2);
}

}  // namespace

bool is_rocprof_table(const std::vector<std::string>& columns) {
  return place_in(columns, "KernelName") && place_in(columns, "gpu-id") && place_in(columns, "grd");
}

// Places of a table of kernels: columns of their own, and counters, which are all the others.
struct RocprofReader::KernelLayout {
  using Place = std::optional<std::size_t>;
  KernelLayout(const std::vector<std::string>& all, RocmRun& run) : names(all) {
    std::vector<bool> known(names.size());
    const auto find = [&](std::initializer_list<std::string_view> spellings) {
      Place place;
      for (const std::string_view spelling : spellings) {
        if (!place) place = place_in(names, spelling);
      }
      if (place) known[*place] = true;
      return place;
    };
    index = find({"Index"});
    name = find({"KernelName"});
    gpu = find({"gpu-id"});
    queue = find({"queue-id"});
    pid = find({"pid"});
    tid = find({"tid"});
    grid = find({"grd"});
    group = find({"wgr"});
    shared = find({"lds"});
    scratch = find({"scr"});
    vgprs = find({"arch_vgpr", "vgpr"});
    accum_vgprs = find({"accum_vgpr"});
    sgprs = find({"sgpr"});
    begin = find({"BeginNs"});
    end = find({"EndNs"});
    (void)find({kDuration});
    for (const std::string_view fact : kFurtherFacts) {
      if (const Place place = find({fact})) further.push_back(*place);
    }
    std::vector<RocmCounter> found;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (known[i] || names[i].empty()) continue;
      if (found.size() == kMostRocprofCounters) {
        run.report().note(QualityKind("values_left_out").as(Severity::warning),
                          fmt::format("counters beyond the first {} were left out", kMostRocprofCounters));
        break;
      }
      counters.push_back(i);
      found.push_back({names[i], names[i].ends_with("Ns") ? "ns" : "", {}});
    }
    if (!found.empty()) run.set_counters(std::move(found));
  }

  std::vector<std::string> names;
  Place index, name, gpu, queue, pid, tid, grid, group, shared, scratch, vgprs, accum_vgprs, sgprs, begin, end;
  std::vector<std::size_t> further, counters;
};

std::uint32_t RocprofReader::process_of(MaybeNumber pid) {
  const auto [place, is_new] = processes_.try_emplace(pid.value_or(-1), 0);
  if (is_new) place->second = run_.add_process({.host = {}, .machine = {}, .pid = pid, .command = {}});
  return place->second;
}

MaybeNumber RocprofReader::agent_of(std::uint32_t process, MaybeNumber gpu) {
  if (gpu) run_.add_agent(process, *gpu, {true, *gpu, {}, {}, {}});
  return gpu;
}

void RocprofReader::write_kernel(const KernelLayout& layout, const TextOf& text) {
  const auto number = [&](const KernelLayout::Place& place) {
    return place ? csv_integer(text(*place)) : MaybeNumber();
  };
  const MaybeNumber begin = number(layout.begin);
  const MaybeNumber end = number(layout.end);
  if (!begin || !end) {
    ++without_time_;
    return run_.count_skipped(RocmTable::kernel);
  }
  RocmDispatch dispatch;
  dispatch.process = process_of(number(layout.pid));
  dispatch.start = *begin;
  dispatch.end = *end;
  dispatch.name = run_.intern_kernel(without_quotes(text(*layout.name)));
  dispatch.thread = number(layout.tid);
  dispatch.agent = agent_of(dispatch.process, number(layout.gpu));
  dispatch.queue = number(layout.queue);
  dispatch.dispatch_id = number(layout.index);
  dispatch.shared_bytes = number(layout.shared);
  dispatch.scratch_bytes = number(layout.scratch);
  dispatch.vgprs = number(layout.vgprs);
  dispatch.accum_vgprs = number(layout.accum_vgprs);
  dispatch.sgprs = number(layout.sgprs);
  if (const MaybeNumber items = number(layout.grid)) {
    dispatch.work_items = {*items, 1, 1};
    dispatch.workgroup = {number(layout.group).value_or(0), 1, 1};
    ++flat_sizes_;
  }
  std::string further;
  for (const std::size_t place : layout.further) {
    further += fmt::format("{}{}={}", further.empty() ? "" : ", ", layout.names[place], text(place));
  }
  std::vector<CounterValue> values;
  for (std::size_t i = 0; i < layout.counters.size(); ++i) {
    const std::optional<double> value = csv_real(text(layout.counters[i]));
    if (value) values.push_back({static_cast<std::uint32_t>(i), *value});
    if (!value && !text(layout.counters[i]).empty()) {
      further += fmt::format("{}{}={}", further.empty() ? "" : ", ", layout.names[layout.counters[i]],
                             text(layout.counters[i]));
    }
  }
  dispatch.further_counters = further;
  run_.write(dispatch, values);
  ++progress_.done;
}

Result<void> RocprofReader::read(CsvTable& table, const std::string& name) {
  const KernelLayout layout(table.names(), run_);
  if (!layout.name) return Error{fmt::format("{}: has no column KernelName, so it is no table of kernels", name)};
  if (!layout.begin || !layout.end) {
    return Error{
        fmt::format("{}: rocprof wrote no times of these kernels (BeginNs, EndNs), so there is nothing to put "
                    "on a timeline; run it with --timestamp on",
                    name)};
  }
  constexpr std::uint64_t kLookUpEvery = 4096;
  const TextOf text = [&](std::size_t column) { return table.cell(column); };
  while (table.next()) {
    write_kernel(layout, text);
    if (table.rows() % kLookUpEvery != 0) continue;
    if (run_.session().cancelled() || !run_.session().status()) break;
    progress_.total = table.blocks().file_bytes();
    progress_.done = table.blocks().file_bytes_read();
    progress_.inform();
  }
  run_.report().note("rows_skipped",
                     fmt::format("rows have another number of cells than the table has columns, the first in line {}; "
                                 "was the file cut?",
                                 table.first_bad_line()),
                     table.bad_rows());
  run_.count_skipped(RocmTable::kernel, table.bad_rows());
  run_.report().add(table.blocks());
  report();
  return {};
}

void RocprofReader::read(const sqlite::ForeignDatabase& database) {
  const auto rows_in = [&](std::string_view table) {
    const Result<std::int64_t> count = database.row_count(table);
    return count ? *count : 0;
  };
  for (const std::string& table : database.tables()) progress_.total += static_cast<std::uint64_t>(rows_in(table));
  // What HIP started is joined with its calls; where HIP was not traced, HSA's are what started it.
  const bool hip = rows_in(kHipTable) > 0;
  if (rows_in(kOperationTable) > 0) {
    read_operations(database);
    leave_out(database, kKernelTable, "the same launches are in the table OPS");
  } else {
    read_kernels(database);
  }
  read_copies(database, hip);
  read_calls(database, kHipTable, true);
  read_calls(database, kHsaTable, !hip);
  read_marks(database);
  constexpr std::array kRead = {kKernelTable, kOperationTable, kCopyTable, kHipTable, kHsaTable, kMarkTable};
  for (const std::string& table : database.tables()) {
    if (std::find(kRead.begin(), kRead.end(), table) == kRead.end()) leave_out(database, table, "it is not read");
  }
  report();
}

void RocprofReader::leave_out(const sqlite::ForeignDatabase& database, std::string_view table, std::string_view why) {
  const Result<std::int64_t> count = database.row_count(table);
  run_.report().note("rows_left_out", fmt::format("rows of the table {} were left out: {}", table, why),
                     count ? static_cast<std::uint64_t>(std::max<std::int64_t>(*count, 0)) : 0);
}

void RocprofReader::read_kernels(const sqlite::ForeignDatabase& database) {
  const KernelLayout layout(database.columns(kKernelTable), run_);
  if (!layout.begin || !layout.end || !layout.name) return leave_out(database, kKernelTable, "it has no times");
  const std::vector<std::string_view> columns(layout.names.begin(), layout.names.end());
  Result<ForeignRows> rows = database.rows(kKernelTable, columns);
  const TextOf text = [&](std::size_t column) { return rows->text(column); };
  while (rows && rows->next() && !run_.session().cancelled()) write_kernel(layout, text);
  progress_.inform();
}

bool RocprofReader::place(const ForeignRows& rows, RocmTable becomes, RocmRecord& record) {
  const MaybeNumber begin = rows.number(0);
  const MaybeNumber end = rows.number(1);
  if (!begin || !end) {
    ++without_time_;
    run_.count_skipped(becomes);
    return false;
  }
  record.start = *begin;
  record.end = *end;
  record.process = process_of(rows.number(2));
  record.thread = rows.number(3);
  ++progress_.done;
  return true;
}

void RocprofReader::read_operations(const sqlite::ForeignDatabase& database) {
  Result<ForeignRows> rows = database.rows(kOperationTable, {"BeginNs", "EndNs", "pid", "tid", "Name", "dev-id",
                                                             "queue-id", "stream-id", "roctx-range", "Index"});
  while (rows && rows->next() && !run_.session().cancelled()) {
    RocmDispatch dispatch;
    if (!place(*rows, RocmTable::kernel, dispatch)) continue;
    dispatch.name = run_.intern_kernel(without_quotes(rows->text(4)));
    dispatch.agent = agent_of(dispatch.process, rows->number(5));
    dispatch.queue = rows->number(6);
    dispatch.stream = rows->number(7);
    const std::string_view range = without_quotes(rows->text(8));
    if (!range.empty() && range != without_quotes(rows->text(4))) dispatch.region = run_.intern(range);
    dispatch.correlation = rows->number(9);
    run_.write(dispatch);
  }
  progress_.inform();
}

void RocprofReader::read_copies(const sqlite::ForeignDatabase& database, bool joined) {
  Result<ForeignRows> rows = database.rows(
      kCopyTable, {"BeginNs", "EndNs", "pid", "tid", "Name", "dev-id", "queue-id", "stream-id", "Data", "Index"});
  while (rows && rows->next() && !run_.session().cancelled()) {
    RocmCopy copy;
    if (!place(*rows, RocmTable::memcpy, copy)) continue;
    const std::string_view name = without_quotes(rows->text(4));
    copy.fills = name.find("Fill") != std::string_view::npos;
    copy.name = run_.intern(name);
    copy.agent = agent_of(copy.process, rows->number(5));
    copy.queue = rows->number(6);
    copy.stream = rows->number(7);
    copy.arguments = rows->text(8);
    // Copies of HSA alone are on no device, and have numbers of their own.
    if (joined == copy.agent.has_value()) copy.correlation = rows->number(9);
    run_.write(copy);
  }
  progress_.inform();
}

void RocprofReader::read_calls(const sqlite::ForeignDatabase& database, std::string_view table, bool joined) {
  Result<ForeignRows> rows = database.rows(table, {"BeginNs", "EndNs", "pid", "tid", "Name", "args", "Index"});
  const StringId category = run_.intern(fmt::format("{}_API", table));
  while (rows && rows->next() && !run_.session().cancelled()) {
    RocmOnHost call;
    if (!place(*rows, RocmTable::call, call)) continue;
    call.category = category;
    call.name = run_.intern(without_quotes(rows->text(4)));
    call.arguments = rows->text(5);
    if (joined) call.correlation = rows->number(6);
    run_.write(call);
  }
  progress_.inform();
}

void RocprofReader::read_marks(const sqlite::ForeignDatabase& database) {
  Result<ForeignRows> rows = database.rows(kMarkTable, {"BeginNs", "EndNs", "pid", "tid", "Name"});
  while (rows && rows->next() && !run_.session().cancelled()) {
    RocmOnHost mark;
    if (!place(*rows, RocmTable::mark, mark)) continue;
    mark.table = RocmHostTable::mark;
    mark.mark_kind = run_.intern(mark.start == mark.end ? "mark" : "range");
    mark.name = run_.intern(without_quotes(rows->text(4)));
    run_.write(mark);
  }
  progress_.inform();
}

void RocprofReader::report() {
  run_.report().note("rows_skipped", "rows have no begin or end that is a number; they were left out", without_time_);
  run_.report().note("facts_left_out",
                     "sizes of grids and groups are told as one number; they are shown as if they had one dimension",
                     flat_sizes_);
}

}  // namespace accelscope::capture::sources::rocm
