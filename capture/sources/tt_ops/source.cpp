// Operations reports of tt-metal (ops_perf_results_*.csv, cpp_device_perf_report.csv) of all versions since 2023.
//
// A row becomes an event of the table "op" with every column of the file: on its device's row "Operations" where the
// device told when it ran, else on the host's. Operations that have both times are on the host's row as well, in the
// table "host_op", with an arrow from the one to the other. Signposts are instants of the table "signpost".
//
// Two clocks: the host's ns since the tool began, and each device's cycles. A device's rate is the median of cycles
// over ns of its operations. Where the zero of its clock lies is not in the file: it is taken to be the earliest for
// which no operation begins on the device before the host has asked for it, and the report says that it is an estimate.
// Clocks are called as those of the device log ("chip 0"), so that the log of the same run, opened with the report,
// lies on the same time.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/unordered_session.h"
#include "capture/sources/tt_ops/columns.h"
#include "core/base/capped.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::tt_ops {
namespace {

using tracks::EventValues;
using tracks::FlowSide;
using tracks::UnorderedSession;

constexpr std::string_view kSignpost = "signpost";
constexpr std::int64_t kLargestOpTime = std::int64_t{1} << 61;

constexpr ColumnSpec kHostOpColumns[] = {
    {"GLOBAL CALL COUNT", columns::kInt, "", columns::kIds, "", "The call's number."},
    {"OP TYPE", columns::kString, "", columns::kOperation, "", "Where it ran."},
    {"CALL DEPTH", columns::kInt, "", columns::kOperation, "", "How many operations it was called within."},
};

[[nodiscard]] CsvTable::Options ops_table_options() {
  return {.is_header = [](const std::vector<std::string>& cells) { return is_ops_header(cells); }};
}

class OpsReportImport {
 public:
  OpsReportImport(const std::string& path, const ImportOptions& options, EventSink& sink)
      : path_(path), options_(options), session_(sink) {}

  Result<void> run();

 private:
  struct Device {
    DeviceTime time;
    std::uint32_t row = kNone;
  };
  struct Places {
    std::optional<std::size_t> code, type, call, device, host_start, host_end, host_duration, depth, fw_start, fw_end,
        fw_duration, trace, sources;
    explicit Places(const CsvTable& table);
  };
  [[nodiscard]] Result<CsvTable> open_table() const;
  Result<void> look();
  Result<void> write();
  void add_devices();
  void write_row(const CsvTable& table, const Places& at);
  void write_signpost(const CsvTable& table, const Places& at, std::int64_t host);
  tracks::WrittenEvent write_on_host(const CsvTable& table, const Places& at, std::int64_t host, std::int64_t duration);
  void fill(const CsvTable& table, std::span<const std::size_t> places);  // of the file's columns
  [[nodiscard]] std::optional<std::int64_t> time_of(const CsvTable& table, std::optional<std::size_t> column) const;
  [[nodiscard]] static std::string device_of(const CsvTable& table, const Places& at);
  [[nodiscard]] static std::string name_of(const CsvTable& table, const Places& at);
  [[nodiscard]] std::uint32_t host_row(std::uint32_t& row, std::uint32_t table, const char* name, std::int64_t place);
  void report(const CsvTable& table);
  [[nodiscard]] Result<void> progress(const CsvTable& table, double done);

  std::string path_;
  const ImportOptions& options_;
  UnorderedSession session_;
  std::vector<CellKind> kinds_;
  std::vector<Column> columns_;
  std::vector<std::size_t> op_places_;        // in the file: all
  std::vector<std::size_t> signpost_places_;  // those that signposts have something in
  std::map<std::string, Device> devices_;     // by number, as the file writes it
  EventValues values_;
  std::uint32_t ops_ = kNone;  // tables
  std::uint32_t host_ops_ = kNone;
  std::uint32_t signposts_ = kNone;
  std::uint32_t host_row_ = kNone;  // rows
  std::uint32_t host_only_row_ = kNone;
  std::uint32_t signpost_row_ = kNone;
  std::int64_t first_host_ = INT64_MAX;
  std::uint64_t untimed_ = 0;
  std::uint64_t ops_written_ = 0;
  std::uint64_t signposts_written_ = 0;
  std::uint64_t rateless_ = 0;  // devices
  std::uint64_t resting_ = 0;
  bool estimated_ = false;
};

OpsReportImport::Places::Places(const CsvTable& table) {
  const auto find = [&](const OpColumn::Names& names) { return find_op_column(table.names(), names); };
  code = find(OpColumn::op_code);
  type = find(OpColumn::op_type);
  call = find(OpColumn::call_count);
  device = find(OpColumn::device_id);
  host_start = find(OpColumn::host_start);
  host_end = find(OpColumn::host_end);
  host_duration = find(OpColumn::host_duration);
  depth = find(OpColumn::call_depth);
  fw_start = find(OpColumn::fw_start);
  fw_end = find(OpColumn::fw_end);
  fw_duration = find(OpColumn::fw_duration);
  trace = find(OpColumn::trace_id);
  sources = find(OpColumn::kernel_sources);
}

Result<void> OpsReportImport::run() {
  if (Result<void> done = look(); !done) return done;
  return write();
}

std::optional<std::int64_t> OpsReportImport::time_of(const CsvTable& table, std::optional<std::size_t> column) const {
  const std::optional<std::int64_t> time = table.integer(column);
  return time && *time >= 0 && *time <= kLargestOpTime ? time : std::nullopt;
}

// Versions without the column have one device.
std::string OpsReportImport::device_of(const CsvTable& table, const Places& at) {
  const std::string_view device = table.cell(at.device);
  return device.empty() ? "0" : std::string(device);
}

// Programs that the real-time profiler saw are called by the files of their kernels, "reader.cpp, matmul.cpp".
std::string OpsReportImport::name_of(const CsvTable& table, const Places& at) {
  if (!table.cell(at.code).empty()) return std::string(table.cell(at.code));
  std::vector<std::string> files;
  std::string_view paths = table.cell(at.sources);
  while (!paths.empty()) {
    const std::size_t end = std::min(paths.find(';'), paths.size());
    const std::string file = file_name(trimmed(paths.substr(0, end)));
    if (!file.empty() && std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
    paths.remove_prefix(std::min(end + 1, paths.size()));
  }
  return files.empty() ? fmt::format("program {}", table.cell(at.call)) : fmt::format("{}", fmt::join(files, ", "));
}

Result<void> OpsReportImport::progress(const CsvTable& table, double done) {
  constexpr std::uint64_t kAskInterval = 1024;
  if (table.rows() % kAskInterval != 0) return {};
  if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", path_)};
  if (options_.progress) {
    const std::uint64_t total = table.blocks().file_bytes();
    const double share = done + 0.5 * static_cast<double>(table.blocks().file_bytes_read()) /
                                    static_cast<double>(std::max<std::uint64_t>(total, 1));
    options_.progress(static_cast<std::uint64_t>(share * static_cast<double>(total)), total);
  }
  return {};
}

Result<CsvTable> OpsReportImport::open_table() const { return CsvTable::open(path_, ops_table_options()); }

Result<void> OpsReportImport::look() {
  Result<CsvTable> table = open_table();
  if (!table)
    return Error{table.message() + "; an operations report has columns OP CODE or OP NAME, and DEVICE FW START CYCLE"};
  const Places at(*table);
  kinds_.assign(table->names().size(), CellKind::none);
  std::vector<bool> of_signposts(kinds_.size());
  while (table->next()) {
    for (std::size_t i = 0; i < kinds_.size(); ++i) kinds_[i] = wider(kinds_[i], table->cell(i));
    if (table->cell(at.type) == kSignpost) {
      for (std::size_t i = 0; i < kinds_.size(); ++i) of_signposts[i] = of_signposts[i] || !table->cell(i).empty();
    }
    const std::optional<std::int64_t> host = time_of(*table, at.host_start);
    if (host) first_host_ = std::min(first_host_, *host);
    if (const std::optional<std::int64_t> cycle = time_of(*table, at.fw_start)) {
      // A replay runs long after the host recorded it.
      const bool replayed = !table->cell(at.trace).empty();
      devices_[device_of(*table, at)].time.add(*cycle, time_of(*table, at.fw_end), table->real(at.fw_duration),
                                               replayed ? std::nullopt : host);
    }
    if (Result<void> on = progress(*table, 0); !on) return on;
  }
  columns_ = op_columns(table->names(), kinds_);
  columns_.resize(std::min(columns_.size(), kMostFileColumns));
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    op_places_.push_back(i);
    if (of_signposts[i] && i != at.code && i != at.type && i != at.host_start) signpost_places_.push_back(i);
  }
  return {};
}

void OpsReportImport::add_devices() {
  const bool any_host = first_host_ != INT64_MAX;
  for (auto& [number, device] : devices_) {
    Clock clock;
    clock.name = "chip " + number;
    const std::optional<double> rate = device.time.ticks_per_ns();
    rateless_ += rate ? 0 : 1;
    clock.ticks_per_ns = rate.value_or(1);
    const std::vector<ClockAnchor> placed =
        any_host ? device.time.anchors(clock.ticks_per_ns) : std::vector<ClockAnchor>{};
    clock.anchors = {{device.time.first_cycle(), 0}};
    if (!placed.empty()) {
      clock.anchors = placed;
      for (ClockAnchor& anchor : clock.anchors) anchor.ns = capped_difference(anchor.ns, first_host_);
      estimated_ = true;
      resting_ += placed.size() > 1 ? 1 : 0;
    }
    device.row = session_.add_track(
        ops_,
        {.name = "Operations", .kind = "stream", .device = clock.name, .clock = session_.writer().add_clock(clock)});
    // The device log of the same run has this clock as well.
    session_.writer().set_meta(shared_clock_fact(clock.name), placed.empty() ? kOwnClock : kPlacedClock);
  }
}

std::uint32_t OpsReportImport::host_row(std::uint32_t& row, std::uint32_t table, const char* name, std::int64_t place) {
  if (row == kNone) {
    row = session_.add_track(table, {.name = name, .kind = "host_thread", .host = "host"},
                             {tracks::kMainThreadRows, place});
  }
  return row;
}

Result<void> OpsReportImport::write() {
  Schema ops = make_schema({"op", EventKind::slice, "OP CODE", "The operation."});
  ops.columns = columns_;
  ops_ = session_.add_table(std::move(ops));
  host_ops_ =
      session_.add_table(make_schema({"host_op", EventKind::slice, "OP CODE", "The operation."}, kHostOpColumns));
  Schema signposts = make_schema({"signpost", EventKind::instant, "OP CODE", "What the program called it."});
  for (const std::size_t place : signpost_places_) signposts.columns.push_back(columns_[place]);
  signposts_ = session_.add_table(std::move(signposts));
  add_devices();
  CsvTable table = TRY(open_table());
  if (table.names().size() != kinds_.size()) {
    return Error{fmt::format("{}: it has changed while it was read; import it once its writer is done", path_)};
  }
  const Places at(table);
  while (table.next()) {
    write_row(table, at);
    if (Result<void> on = progress(table, 0.5); !on) return on;
    if (Result<void> status = session_.status(); !status) return status;
  }
  report(table);
  return session_.finish({.clock = "host", .path = path_});
}

void OpsReportImport::write_row(const CsvTable& table, const Places& at) {
  const std::optional<std::int64_t> host = time_of(table, at.host_start);
  std::int64_t host_duration = 0;
  if (const auto end = time_of(table, at.host_end); host && end) {
    host_duration = *end - *host;
  } else if (const auto length = time_of(table, at.host_duration)) {
    host_duration = *length;
  }
  if (table.cell(at.type) == kSignpost) {
    if (host) return write_signpost(table, at, *host);
    ++untimed_;
    return;
  }
  const StringId name = session_.intern(name_of(table, at));
  const std::optional<std::int64_t> cycle = time_of(table, at.fw_start);
  if (!cycle) {
    if (!host) {
      ++untimed_;
      return;
    }
    fill(table, op_places_);
    session_.write(host_row(host_only_row_, ops_, "Operations without a device", 1), *host, host_duration, name,
                   values_);
    ++ops_written_;
    return;
  }
  const auto device = devices_.find(device_of(table, at));
  if (device == devices_.end()) {  // its writer has added the first row of a device since the first look
    ++untimed_;
    return;
  }
  const std::optional<std::int64_t> last = time_of(table, at.fw_end);
  fill(table, op_places_);
  const tracks::WrittenEvent op =
      session_.write(device->second.row, *cycle, last.value_or(*cycle) - *cycle, name, values_);
  ++ops_written_;
  if (!host) return;
  const tracks::WrittenEvent call = write_on_host(table, at, *host, host_duration);
  const auto id = static_cast<std::uint64_t>(table.integer(at.call).value_or(0));
  const std::uint64_t key = tracks::flow_key(ops_written_, 0);  // an arrow for each row
  session_.add_flow(FlowSide::source, key, id, call);
  session_.add_flow(FlowSide::target, key, id, op);
}

void OpsReportImport::write_signpost(const CsvTable& table, const Places& at, std::int64_t host) {
  fill(table, signpost_places_);
  session_.write(host_row(signpost_row_, signposts_, "Signposts", 2), host, 0, session_.intern(table.cell(at.code)),
                 values_);
  ++signposts_written_;
}

tracks::WrittenEvent OpsReportImport::write_on_host(const CsvTable& table, const Places& at, std::int64_t host,
                                                    std::int64_t duration) {
  values_.clear();
  if (const auto call = table.integer(at.call)) values_.integer(0, *call);
  if (!table.cell(at.type).empty()) values_.string(1, session_.intern(table.cell(at.type)));
  if (const auto depth = table.integer(at.depth)) values_.integer(2, *depth);
  return session_.write(host_row(host_row_, host_ops_, "Operations on the host", 0), host, duration,
                        session_.intern(table.cell(at.code)), values_);
}

void OpsReportImport::fill(const CsvTable& table, std::span<const std::size_t> places) {
  values_.clear();
  for (std::size_t i = 0; i < places.size(); ++i) {
    const std::string_view cell = table.cell(places[i]);
    const ColumnType type = columns_[places[i]].type;
    if (cell.empty()) continue;
    if (type == ColumnType::string) {
      values_.string(i, session_.intern(cell));
    } else if (type == ColumnType::int64) {
      if (const auto value = csv_integer(cell)) values_.integer(i, *value);
    } else if (const auto value = csv_real(cell)) {
      values_.real(i, *value);
    }
  }
}

void OpsReportImport::report(const CsvTable& table) {
  SessionWriter& writer = session_.writer();
  writer.set_meta("source_format", "tt-metal operations report");
  set_row_counts(writer, "op", table.rows() + table.bad_rows() - signposts_written_, ops_written_);
  if (signposts_written_ > 0) set_row_counts(writer, "signpost", signposts_written_, signposts_written_);
  ImportReport& said = session_.report();
  said.note("rows_skipped",
            fmt::format("lines that fit the file's header in no way were skipped, the first is line {}",
                        table.first_bad_line()),
            table.bad_rows());
  said.note("rows_skipped", "operations that tell neither a time of the host nor of a device were skipped", untimed_);
  said.add(table.blocks());
  said.note_columns("op", table.names());
  if (table.rows() == 0) said.note("no_rows", "the report has a header but no operations");
  if (first_host_ == INT64_MAX && devices_.size() > 1) {
    said.note("device_clock_estimated",
              "the report has no times of the host, so nothing says how its devices' clocks lie to each other: each "
              "device's first operation begins at 0");
  }
  if (estimated_) {
    said.note(
        "device_clock_estimated",
        "where devices' cycles lie on the host's time is not in the report: they are laid as early as no operation "
        "begins on its device before the host has asked for it, so delays between both may be longer than shown");
  }
  said.note(
      "device_clock_estimated",
      "devices count fewer cycles than the time that passed, as chips do that lower their clock while they are idle; "
      "the difference was laid between operations, and gaps there are those of the host's clock",
      resting_);
  said.note("frequency_missing",
            "devices whose operations tell no duration in ns: a cycle is shown as 1 ns; open the report that "
            "tt-metal's own tool wrote",
            rateless_);
}

}  // namespace

namespace {

constexpr int kCertain = 95;

// Whether the first line is the header of a report, and of one that tells of the host.
[[nodiscard]] bool begins_report(std::string_view head, bool of_host) {
  const std::string_view line = head.substr(0, std::min(head.find('\n'), head.size()));
  std::vector<std::string> cells;
  return split_csv(line, ',', cells) && is_ops_header(cells) &&
         find_op_column(cells, {OpColumn::op_code.front()}).has_value() == of_host;
}

}  // namespace

int probe_ops_report(std::string_view head, const std::string& /*path*/) {
  return begins_report(head, true) ? kCertain : 0;
}

int probe_device_report(std::string_view head, const std::string& /*path*/) {
  return begins_report(head, false) ? kCertain : 0;
}

std::string folder_of_report(const std::string& path) {
  return std::filesystem::path(path).parent_path().lexically_normal().string() + "/";
}

Result<void> import_ops_report(const std::string& path, const ImportOptions& options, EventSink& sink) {
  return OpsReportImport(path, options, sink).run();
}

}  // namespace accelscope::capture::sources::tt_ops
