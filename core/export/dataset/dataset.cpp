#include "core/export/dataset/dataset.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <ctime>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "core/base/checksum.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "core/export/base/event_cells.h"
#include "core/export/base/event_pieces.h"
#include "core/export/base/track_groups.h"
#include "core/sql/base/sql.h"

namespace accelscope::exporting {
namespace {

constexpr std::string_view kDatasetEvents = "events", kDatasetCounters = "counters", kDatasetSessions = "sessions";
constexpr bool kAlways = false;

[[nodiscard]] DatasetColumn whole_column(const char* name, std::string_view explanation, bool optional = true) {
  return {{name, ParquetType::int64, optional}, explanation};
}
[[nodiscard]] DatasetColumn real_column(const char* name, std::string_view explanation) {
  return {{name, ParquetType::real, true}, explanation};
}
[[nodiscard]] DatasetColumn word_column(const char* name, std::string_view explanation, bool optional = true) {
  return {{name, ParquetType::text, optional, true}, explanation};
}
[[nodiscard]] DatasetColumn text_column(const char* name, std::string_view explanation) {
  return {{name, ParquetType::text, true}, explanation};
}
const DatasetColumn kHostColumn = word_column("host", "Host of the track, else of the session", kAlways);
const DatasetColumn kDeviceColumn = word_column("device", "Device; empty for what runs on the host", kAlways);

[[nodiscard]] std::string_view dataset_kind(EventKind kind) noexcept {
  constexpr std::array<std::string_view, 6> kWords = {"slice", "counter", "instant", "memory", "flow", "table"};
  return kWords[static_cast<std::size_t>(kind)];
}

// The fallback for tracks that name no host, and what devices are called in figures: "HOST DEVICE".
class DatasetHosts {
 public:
  explicit DatasetHosts(const Snapshot& snapshot) : own_(snapshot.meta_value("capture.host")) {
    for (const TrackSnapshot& track : snapshot.tracks) {
      if (!track.track->host.empty()) hosts_.insert(track.track->host);
    }
    if (own_.empty() && hosts_.size() == 1) own_ = *hosts_.begin();
  }
  [[nodiscard]] std::string first() const { return own_.empty() && !hosts_.empty() ? *hosts_.begin() : own_; }
  [[nodiscard]] const std::string& of(const std::string& host) const noexcept { return host.empty() ? own_ : host; }
  // Takes the host off the device's name.
  [[nodiscard]] std::string split(std::string& device) const {
    for (const std::string& host : hosts_) {
      if (device == host) return std::exchange(device, "");
      if (!device.starts_with(host + " ")) continue;
      device.erase(0, host.size() + 1);
      return host;
    }
    return own_;
  }

 private:
  std::string own_;
  std::set<std::string> hosts_;
};

// Makes row groups of events for one thread.
class DatasetGroups {
 public:
  struct Column {
    DatasetColumn column;
    void (DatasetGroups::*add)(const PieceEvent& event, ParquetColumn& values);
  };
  [[nodiscard]] static const std::vector<Column>& events() {
    static const std::vector<Column> columns = {
        {whole_column("event_id", "Of the session, as SQL over it has it", kAlways), &DatasetGroups::add_id},
        {whole_column("track_id", "See tracks", kAlways), &DatasetGroups::add_track_id},
        {kHostColumn, &DatasetGroups::add_host},
        {kDeviceColumn, &DatasetGroups::add_device},
        {word_column("track", "Name of the track: engine, queue, stream, thread", kAlways), &DatasetGroups::add_track},
        {word_column("track_kind", "engine, queue, stream, thread, ...", kAlways), &DatasetGroups::add_track_kind},
        {word_column("category", "The table that the event is in in SQL over the session: instruction, kernel, ...",
                     kAlways),
         &DatasetGroups::add_category},
        {word_column("kind", "slice, instant, memory, flow; table: a row without a time", kAlways),
         &DatasetGroups::add_kind},
        {whole_column("lane", "Depth of nested calls; of others which of the overlapping", kAlways),
         &DatasetGroups::add_lane},
        {whole_column("ts_ns", "ns since the session's begin, sessions.begin_unix_ns"), &DatasetGroups::add_begin},
        {whole_column("dur_ns", "ns; 0 for moments"), &DatasetGroups::add_duration},
        {word_column("name", "Name of the event", kAlways), &DatasetGroups::add_name},
        {text_column("args", "All further columns that have a value, a JSON object"), &DatasetGroups::add_args}};
    return columns;
  }
  [[nodiscard]] static const std::vector<Column>& counters() {
    static const std::vector<Column> columns = {
        {whole_column("event_id", "Of the session, as SQL over it has it", kAlways), &DatasetGroups::add_id},
        {whole_column("track_id", "See tracks", kAlways), &DatasetGroups::add_track_id},
        {kHostColumn, &DatasetGroups::add_host},
        {kDeviceColumn, &DatasetGroups::add_device},
        {word_column("counter", "Name of the track", kAlways), &DatasetGroups::add_track},
        {word_column("unit", "Of the value: B, B/s, share, ...", kAlways), &DatasetGroups::add_unit},
        {word_column("category", "The table that the sample is in in SQL over the session", kAlways),
         &DatasetGroups::add_category},
        {whole_column("ts_ns", "ns since the session's begin"), &DatasetGroups::add_begin},
        {real_column("value", "The sample"), &DatasetGroups::add_sample},
        {text_column("args", "All further columns that have a value, a JSON object"), &DatasetGroups::add_args}};
    return columns;
  }

  DatasetGroups(const ExportRequest& request, const ExportPlan& plan, const DatasetHosts& hosts)
      : plan_(plan),
        snapshot_(*request.query.snapshot),
        hosts_(hosts),
        strings_(*request.query.snapshot->strings),
        reader_(request.query, request.range) {}

  // A group of all these pieces.
  Result<ParquetGroup> write(const std::vector<Column>& columns, std::span<const std::size_t> pieces,
                             std::string& out) {
    std::vector<ParquetColumn> values;
    for (const Column& each : columns) values.emplace_back(each.column.field);
    ParquetGroup group;
    for (const std::size_t index : pieces) {
      const EventPiece& piece = plan_.pieces[index];
      const ExportTrack& track = plan_.tracks[piece.track];
      TRY(reader_.open(track, piece));
      track_ = track.snapshot->track.get();
      lane_ = snapshot_.lanes[piece.lane].data->lane.depth;
      value_ = reader_.schema().kind == EventKind::counter ? reader_.schema().find(Role::value) : std::nullopt;
      keys_.clear();
      for (const accelscope::Column& each : reader_.schema().columns) keys_.push_back(json_quote(each.name) + ":");
      group.rows += static_cast<std::int64_t>(reader_.events().size());
      for (std::size_t i = 0; i < columns.size(); ++i) {
        for (const PieceEvent& event : reader_.events()) (this->*columns[i].add)(event, values[i]);
      }
    }
    if (group.rows == 0) return group;
    for (ParquetColumn& each : values) group.columns.push_back(each.finish(out));
    return group;
  }

 private:
  void add_id(const PieceEvent& event, ParquetColumn& values) { values.add_word(reader_.id(event)); }
  void add_track_id(const PieceEvent&, ParquetColumn& values) { values.add_int64(track_->number); }
  void add_host(const PieceEvent&, ParquetColumn& values) { add_utf8(hosts_.of(track_->host), values); }
  void add_device(const PieceEvent&, ParquetColumn& values) { add_utf8(track_->device, values); }
  void add_track(const PieceEvent&, ParquetColumn& values) { add_utf8(track_->name, values); }
  void add_track_kind(const PieceEvent&, ParquetColumn& values) { add_utf8(track_->kind, values); }
  void add_unit(const PieceEvent&, ParquetColumn& values) { add_utf8(track_->unit, values); }
  void add_category(const PieceEvent&, ParquetColumn& values) { add_utf8(reader_.schema().name, values); }
  void add_kind(const PieceEvent&, ParquetColumn& values) { values.add_text(dataset_kind(reader_.schema().kind)); }
  void add_lane(const PieceEvent&, ParquetColumn& values) { values.add_int64(lane_); }
  void add_begin(const PieceEvent& event, ParquetColumn& values) { add_time(reader_.ns(event.begin), values); }
  void add_duration(const PieceEvent& event, ParquetColumn& values) {
    add_time(reader_.ns(event.end) - reader_.ns(event.begin), values);
  }
  void add_time(std::int64_t ns, ParquetColumn& values) const {
    reader_.schema().kind == EventKind::table ? values.add_null() : values.add_int64(ns);
  }
  void add_name(const PieceEvent& event, ParquetColumn& values) {
    add_utf8(snapshot_.strings->text(reader_.name(event)), values);
  }
  void add_sample(const PieceEvent& event, ParquetColumn& values) {
    if (!value_) return values.add_null();
    const ColumnType type = reader_.schema().columns[*value_].type;
    const BlockValues found = reader_.at(event).column(*value_, type);
    const std::uint32_t at = event.row % kBlockEvents;
    if (!found.has(at)) return values.add_null();
    const std::uint64_t bits = found.values[at];
    values.add_word(type == ColumnType::float64 ? bits
                    : type == ColumnType::uint64
                        ? std::bit_cast<std::uint64_t>(static_cast<double>(bits))
                        : std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(bits))));
  }
  void add_args(const PieceEvent& event, ParquetColumn& values) {
    args_ = "{";
    const auto& columns = reader_.schema().columns;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (i == value_) continue;
      const BlockValues found = reader_.at(event).column(i, columns[i].type);
      const std::uint32_t at = event.row % kBlockEvents;
      if (!found.has(at)) continue;
      if (args_.size() > 1) args_ += ',';
      args_ += keys_[i];
      if (columns[i].type == ColumnType::text) {
        append_json_quoted(args_, reader_.text(event, i));
      } else {
        append_json_value(args_, columns[i].type, found.values[at], strings_);
      }
    }
    if (args_.size() == 1) return values.add_null();
    args_ += '}';
    values.add_text(args_);
  }
  static void add_utf8(std::string_view value, ParquetColumn& values) {
    values.add_text(is_well_formed_utf8(value) ? value : repaired_utf8(value));
  }

  const ExportPlan& plan_;
  const Snapshot& snapshot_;
  const DatasetHosts& hosts_;
  JsonStrings strings_;
  PieceReader reader_;
  const Track* track_ = nullptr;
  std::uint32_t lane_ = 0;
  std::optional<std::size_t> value_;  // the column of a counter's samples
  std::vector<std::string> keys_;     // of the columns, quoted
  std::string args_;
};

[[nodiscard]] std::vector<DatasetColumn> dataset_columns(const std::vector<DatasetGroups::Column>& made) {
  std::vector<DatasetColumn> columns;
  for (const DatasetGroups::Column& each : made) columns.push_back(each.column);
  return columns;
}

std::vector<DatasetTable> make_tables() {
  return {
      {kDatasetSessions,
       "One row: when, where and by what it was captured, how long it is and of which job",
       {text_column("name", "Of the session, else of its file"),
        text_column("file", "That was exported"),
        word_column("host", "That was captured on; of several the first", kAlways),
        whole_column("begin_unix_ns", "The session's time 0 in ns since 1970; null: not known"),
        word_column("date_from", "Where the partition's date is from: capture, or saved (of the file)", kAlways),
        whole_column("duration_ns", "From its first event to the end of its last", kAlways),
        whole_column("events", "Rows of the table events", kAlways),
        whole_column("samples", "Rows of the table counters", kAlways),
        whole_column("tracks", "Rows of the table tracks", kAlways),
        whole_column("devices", "That its tracks name", kAlways),
        word_column("format", "That it was read from, or captured by"),
        text_column("writer", "Program and version that wrote the file"),
        word_column("job", "Number of the job in its scheduler"),
        text_column("job_name", "As the scheduler has it"),
        word_column("job_user", "Whose job it is"),
        whole_column("job_rank", "Rank of the captured process; null: of none, or of several"),
        whole_column("job_ranks", "How many ranks the job has"),
        word_column("job_scheduler", "slurm, torchrun, kubernetes, ..."),
        text_column("command", "That was run"),
        text_column("tags", "As the library has them, with commas between"),
        text_column("project", "As the library has it")},
       ""},
      {"tracks",
       "A row for each engine, queue, stream, thread and counter",
       {whole_column("track_id", "In its session", kAlways), whole_column("parent_id", "The track above it"),
        kHostColumn, kDeviceColumn, text_column("name", "Of the track"),
        word_column("kind", "engine, queue, stream, thread, counter, ..."), word_column("unit", "Of a counter"),
        word_column("category", "The table of its events in SQL over the session"), whole_column("lanes", "Depths"),
        whole_column("events", "Events with a time, or samples"), whole_column("begin_ns", "Of the first"),
        whole_column("end_ns", "Of the last to end"),
        whole_column("busy_ns", "Sum of the durations; null for counters")},
       "SELECT t.id, t.parent_id, t.host, t.device, t.name, t.kind, t.unit, t.schema, t.lane_count, coalesce(e.n, 0), "
       "e.first_ns, e.last_ns, e.busy_ns FROM track t LEFT JOIN (SELECT track_id, count(*) AS n, min(ts_ns) AS "
       "first_ns, max(ts_ns + dur_ns) AS last_ns, sum(dur_ns) AS busy_ns FROM slice GROUP BY track_id UNION ALL SELECT "
       "track_id, count(*), min(ts_ns), max(ts_ns), NULL FROM counter GROUP BY track_id) e ON e.track_id = t.id"},
      {kDatasetEvents, "A row for each event that is no sample of a counter", dataset_columns(DatasetGroups::events()),
       ""},
      {kDatasetCounters, "A row for each sample of a counter", dataset_columns(DatasetGroups::counters()), ""},
      {"flows",
       "Dependencies between events of a session",
       {whole_column("src_id", "event_id of what came first", kAlways),
        whole_column("dst_id", "event_id of what depends on it", kAlways), word_column("kind", "Of the dependency")},
       "SELECT src_id, dst_id, kind FROM flow"},
      {"operations",
       "A row for each name of a kind of tracks of a device: how often and how long",
       {kHostColumn, kDeviceColumn, word_column("track_kind", "engine, queue, stream, thread, ..."),
        word_column("category", "The table of the events in SQL over the session"),
        text_column("name", "Of the events"), whole_column("calls", "How many", kAlways),
        whole_column("total_ns", "Sum of the durations", kAlways), whole_column("min_ns", "The shortest", kAlways),
        whole_column("max_ns", "The longest", kAlways)},
       "SELECT t.host, t.device, t.kind, s.schema, s.name, count(*), sum(s.dur_ns), min(s.dur_ns), max(s.dur_ns) FROM "
       "slice s JOIN track t ON t.id = s.track_id GROUP BY t.host, t.device, t.kind, s.schema, s.name"},
      {"devices",
       "A row for each device: how its time was used",
       {kHostColumn, kDeviceColumn,
        whole_column("span_ns", "From the begin of its first work or transfer to the end of its last"),
        whole_column("active_ns", "Anything was under way"), whole_column("compute_ns", "It computed"),
        whole_column("transfer_ns", "It moved data"), whole_column("collective_ns", "It took part in collectives"),
        whole_column("idle_ns", "Nothing was under way in that span")},
       "SELECT '', device, span_ns, active_ns, compute_ns, transfer_ns, collective_ns, idle_ns FROM devices"},
      {"metrics",
       "The session's figures",
       {kHostColumn, kDeviceColumn, word_column("name", "Of the figure", kAlways),
        word_column("group_name", "It stands in"), word_column("unit", "s, B, share, ..."),
        real_column("value", "As computed from the events"),
        real_column("vendor_value", "As the vendor's tool states it")},
       "SELECT '', device, name, group_name, unit, value, CASE WHEN typeof(vendor_value) IN ('integer', 'real') THEN "
       "vendor_value END FROM metric"},
      {"quality",
       "The data-quality report: what is missing, estimated or was skipped",
       {word_column("kind", "Of the entry", kAlways), word_column("severity", "note, warning, error", kAlways),
        whole_column("occurrences", "How often", kAlways), text_column("detail", "In words")},
       "SELECT kind, severity, count, detail FROM quality"},
      {"facts",
       "What the source states of itself, as it does",
       {word_column("name", "Of the fact", kAlways), text_column("value", "As text")},
       "SELECT key, value FROM meta"},
  };
}

// Passes rows on with host and device split.
class PlacedRows final : public listing::SqlRowVisitor {
 public:
  PlacedRows(const DatasetTable& table, const DatasetHosts& hosts, ParquetRows& rows) : hosts_(hosts), rows_(rows) {
    const auto at = std::ranges::find(table.columns, "host", [](const DatasetColumn& each) { return each.field.name; });
    if (at != table.columns.end()) host_ = static_cast<std::size_t>(at - table.columns.begin());
  }
  bool columns(const std::vector<std::string>&) override { return true; }
  bool row(const std::vector<listing::SqlValue>& values) override {
    if (!host_) return rows_.row(values);
    cells_ = values;
    std::string host = text_of(cells_[*host_]);
    std::string device = text_of(cells_[*host_ + 1]);
    if (host.empty()) host = hosts_.split(device);
    cells_[*host_] = std::move(host);
    cells_[*host_ + 1] = std::move(device);
    return rows_.row(cells_);
  }

 private:
  [[nodiscard]] static std::string text_of(const listing::SqlValue& cell) {
    const auto* found = std::get_if<std::string>(&cell);
    return found == nullptr ? std::string() : *found;
  }
  const DatasetHosts& hosts_;
  ParquetRows& rows_;
  std::optional<std::size_t> host_;  // the device stands behind it
  std::vector<listing::SqlValue> cells_;
};

[[nodiscard]] listing::SqlValue dataset_text(std::string_view value) {
  return value.empty() ? listing::SqlValue() : listing::SqlValue(std::string(value));
}

[[nodiscard]] std::optional<std::int64_t> begin_of_session(const Snapshot& snapshot) {
  if (const auto begin = unix_begin_ns(snapshot)) return begin;
  std::int64_t ns = 0;
  return read_number(snapshot.meta_value("capture.begin_unix_ns"), ns) && ns > 0 ? std::optional(ns) : std::nullopt;
}

class DatasetWriter {
 public:
  DatasetWriter(const ExportRequest& request, const DatasetSession& session, ExportOutput& output)
      : request_(request),
        snapshot_(*request.query.snapshot),
        session_(session),
        output_(output),
        hosts_(snapshot_),
        partition_(dataset_partition(snapshot_, session)) {}

  Result<void> write(const DatasetTable& table) {
    std::vector<ParquetField> fields;
    for (const DatasetColumn& column : table.columns) fields.push_back(column.field);
    ParquetFile file(output_, std::move(fields), {});
    const std::string_view name = kDatasetFile.substr(0, kDatasetFile.rfind('.'));
    TRY(file.begin(fmt::format("{}/{}/{}", table.name, partition_, name)));
    if (table.name == kDatasetEvents || table.name == kDatasetCounters) {
      TRY(write_events(table.name == kDatasetCounters, file));
      report_.rows += file.rows();
    } else {
      ParquetRows rows(file);
      if (table.name == kDatasetSessions) {
        rows.row(session_row());
      } else {
        sql::Session sql(request_.query.store, request_.query.snapshot, request_.query.pool, request_.query.mask);
        PlacedRows placed(table, hosts_, rows);
        TRY(sql.visit(table.sql, placed, request_.query.control));
      }
      TRY(rows.finish());
    }
    report_.bytes += file.bytes();
    return {};
  }
  [[nodiscard]] ExportReport& report() noexcept { return report_; }

 private:
  // Short lanes share a group.
  Result<void> write_events(bool counters, ParquetFile& file) {
    const auto wanted = [&](const TrackSnapshot& track) {
      return (track.schema->kind == EventKind::counter) == counters;
    };
    const ExportPlan plan = TRY(plan_export(request_, wanted, PieceOrder::rows, kParquetGroupRows));
    std::vector<std::vector<std::size_t>> groups;
    std::uint64_t events = kParquetGroupRows;
    for (std::size_t index = 0; index < plan.pieces.size(); ++index) {
      if (events >= kParquetGroupRows) {
        groups.emplace_back();
        events = 0;
      }
      groups.back().push_back(index);
      for (const ChunkRequest& each : plan.pieces[index].chunks)
        events += snapshot_.lanes[each.lane].chunk(each.chunk).count;
    }
    const auto& columns = counters ? DatasetGroups::counters() : DatasetGroups::events();
    std::vector<std::unique_ptr<DatasetGroups>> writers(request_.query.pool.concurrency());
    std::vector<ParquetGroup> made(groups.size());
    const Result<void> done = write_pieces(
        request_.query, groups.size(),
        [&](std::size_t group, std::size_t worker, std::string& out) -> Result<void> {
          if (!writers[worker]) writers[worker] = std::make_unique<DatasetGroups>(request_, plan, hosts_);
          auto written = TRY(writers[worker]->write(columns, groups[group], out));
          made[group] = std::move(written);
          return {};
        },
        [&](std::size_t group, std::string_view bytes) -> Result<void> {
          TRY(file.add(std::move(made[group]), bytes));
          if (request_.progress) request_.progress(report_.rows + file.rows(), snapshot_.event_count);
          return {};
        });
    if (!done) return done;
    return file.finish();
  }

  [[nodiscard]] listing::SqlValue fact(std::string_view key) const { return dataset_text(snapshot_.meta_value(key)); }
  [[nodiscard]] listing::SqlValue number_fact(std::string_view key) const {
    std::int64_t value = 0;
    return read_number(snapshot_.meta_value(key), value) ? listing::SqlValue(value) : listing::SqlValue();
  }

  // The rank of the only source that has one: those of further sources have their labels before them.
  [[nodiscard]] listing::SqlValue rank() const {
    const bool several = std::any_of(snapshot_.meta.begin(), snapshot_.meta.end(),
                                     [](const MetaEntry& entry) { return entry.key.ends_with(".job.rank"); });
    return several ? listing::SqlValue() : number_fact("job.rank");
  }

  [[nodiscard]] std::vector<listing::SqlValue> session_row() const {
    std::int64_t samples = 0, events = 0;
    for (const LaneSnapshot& lane : snapshot_.lanes)
      (lane.schema->kind == EventKind::counter ? samples : events) += static_cast<std::int64_t>(lane.event_count);
    std::set<std::pair<std::string, std::string>> devices;
    for (const TrackSnapshot& track : snapshot_.tracks) {
      if (!track.track->device.empty()) devices.emplace(track.track->host, track.track->device);
    }
    const auto begin = begin_of_session(snapshot_);
    const std::string_view format = snapshot_.meta_value("source_format");
    const std::string_view command = snapshot_.meta_value("program.command");
    return {dataset_text(session_.title),
            dataset_text(session_.file),
            hosts_.first(),
            begin ? listing::SqlValue(*begin) : listing::SqlValue(),
            std::string(begin ? "capture" : "saved"),
            snapshot_.end_ns - snapshot_.begin_ns,
            events,
            samples,
            static_cast<std::int64_t>(snapshot_.tracks.size()),
            static_cast<std::int64_t>(devices.size()),
            format.empty() ? fact("capture.kinds") : dataset_text(format),
            fact("written_by"),
            fact("job.id"),
            fact("job.name"),
            fact("job.user"),
            rank(),
            number_fact("job.ranks"),
            fact("job.scheduler"),
            command.empty() ? fact("capture.command") : dataset_text(command),
            dataset_text(session_.tags),
            dataset_text(session_.project)};
  }

  const ExportRequest& request_;
  const Snapshot& snapshot_;
  const DatasetSession& session_;
  ExportOutput& output_;
  DatasetHosts hosts_;
  std::string partition_;
  ExportReport report_;
};

}  // namespace

const std::vector<DatasetTable>& dataset_tables() {
  static const std::vector<DatasetTable> tables = make_tables();
  return tables;
}

// Chunks of a lane may be cut anew when it is saved, so that only what lies in them counts. Rows without a time are
// told apart by the session's texts and figures.
std::string dataset_session_id(const Snapshot& snapshot) {
  std::string content;
  const auto add = [&](const auto& value) { content += fmt::format("{}\n", value); };
  for (const char* key : {"begin_unix_ns", "capture.begin_unix_ns", "capture.host"}) add(snapshot.meta_value(key));
  for (const LaneSnapshot& lane : snapshot.lanes) {
    if (lane.event_count == 0) continue;
    content += fmt::format("{} {} {} {}\n", lane.number(), lane.event_count, lane.begin_ticks, lane.end_ticks);
  }
  for (const Metric& metric : snapshot.metrics)
    content += fmt::format("{} {} {} {}\n", metric.device, metric.name, metric.value, metric.text);
  for (StringId id = 0; id < snapshot.strings->size(); ++id) add(snapshot.strings->text(id));
  return fmt::format("s-{:016x}", checksum(std::as_bytes(std::span(content))));
}

std::string dataset_date(const Snapshot& snapshot, const DatasetSession& session) {
  const auto begin = begin_of_session(snapshot);
  const std::int64_t seconds = begin ? *begin / 1'000'000'000 : session.saved_unix_s;
  return fmt::format("{:%Y-%m-%d}", fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string dataset_partition(const Snapshot& snapshot, const DatasetSession& session) {
  return fmt::format("date={}/session_id={}", dataset_date(snapshot, session), dataset_session_id(snapshot));
}

Result<ExportReport> write_dataset(const ExportRequest& request, const DatasetSession& session,
                                   const std::vector<std::string>& tables, ExportOutput& output) {
  DatasetWriter writer(request, session, output);
  for (const DatasetTable& table : dataset_tables()) {
    if (tables.empty() || std::ranges::find(tables, table.name) != tables.end()) TRY(writer.write(table));
  }
  return writer.report();
}

}  // namespace accelscope::exporting
