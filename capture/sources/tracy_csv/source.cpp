// What tracy-csvexport writes of a Tracy trace, plain or packed with gzip or zstd: every zone (-u) with the samples of
// plots (-p), every zone of GPUs (-g), messages (-m), or statistics of the places in the source. Also the variants with
// further columns that tt-metal makes of it (tracy_ops_times.csv, tracy_ops_data.csv). Tables: tracy_zone, tracy_plot,
// tracy_gpu_zone, tracy_message, tracy_statistics. Times are ns since the trace's start, ticks of a clock of its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "capture/sources/base/event_sorter.h"
#include "capture/sources/base/import_report.h"
#include "capture/sources/base/importers.h"
#include "capture/sources/base/line_blocks.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/base/source_finder.h"
#include "capture/sources/tracks/track_events.h"
#include "capture/sources/tracy/read/tables.h"
#include "core/base/format.h"
#include "core/base/result.h"
#include "core/base/text.h"
#include "core/chunk/session_writer.h"
#include "core/model/column_spec.h"
#include "core/model/schema.h"

namespace accelscope::capture::sources::tracy_csv {
namespace {

// Which of tracy-csvexport's tables a file holds, and how its rows fall into cells. The tool writes names and texts
// without quotes, so that a comma in them makes a row longer than the header: such a row is read by where its numbers
// must stand.
enum class TracyTable : std::uint8_t {
  zones,       // -u: a row for each zone, and for each sample of a plot
  gpu_zones,   // -g
  messages,    // -m
  statistics,  // a row for each place in the source
};

enum class TracyColumn : std::uint8_t { name, file, line, start, duration, thread, other };

struct TracyLayout {
  TracyTable table = TracyTable::zones;
  char separator = ',';
  std::vector<std::string> names;    // of the columns, without blanks at their ends
  std::vector<TracyColumn> columns;  // what they are
  static constexpr std::size_t kAbsent = SIZE_MAX;

  [[nodiscard]] std::size_t place(TracyColumn column) const noexcept;
  [[nodiscard]] bool is_number(std::size_t place) const noexcept;
};

// Of the file's first line.
[[nodiscard]] Result<TracyLayout> read_tracy_header(std::string_view line);
// 0 to 100: how sure it is that a text which begins like this is such a table.
[[nodiscard]] int probe_tracy_csv_text(std::string_view text);

// The row as one cell for each column; false if it cannot be one. Cells of `cells` are reused.
[[nodiscard]] bool split_tracy_row(std::string_view line, const TracyLayout& layout, std::vector<std::string>& cells);

struct KnownColumn {
  std::string_view name;
  TracyColumn column;
};
constexpr KnownColumn kKnown[] = {
    {"name", TracyColumn::name},
    {"MessageName", TracyColumn::name},
    {"src_file", TracyColumn::file},
    {"src_line", TracyColumn::line},
    {"ns_since_start", TracyColumn::start},
    {"Time from start of program", TracyColumn::start},
    {"exec_time_ns", TracyColumn::duration},
    {"GPU execution time", TracyColumn::duration},
    {"thread", TracyColumn::thread},
};
constexpr std::string_view kStatistics[] = {"total_ns", "total_perc", "counts", "mean_ns",
                                            "min_ns",   "max_ns",     "std_ns"};

constexpr std::size_t kMostTracyColumns = 200;  // the tool writes a dozen

// The character behind the first name: the tool takes any with --sep.
[[nodiscard]] char separator_of(std::string_view header) noexcept {
  const std::size_t end = header.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_");
  return end == std::string_view::npos ? ',' : header[end];
}

[[nodiscard]] bool has(const TracyLayout& layout, std::string_view name) {
  return std::find(layout.names.begin(), layout.names.end(), name) != layout.names.end();
}

// A cell that begins with a quote goes on to the quote before a separator; two quotes stand for one.
[[nodiscard]] std::size_t take_cell(std::string_view line, std::size_t at, char separator, std::string& cell) {
  cell.clear();
  if (at < line.size() && line[at] == '"') {
    for (std::size_t i = at + 1; i < line.size(); ++i) {
      if (line[i] != '"') {
        cell += line[i];
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        cell += line[++i];
      } else if (i + 1 == line.size() || line[i + 1] == separator) {
        return i + 1;
      } else {
        break;
      }
    }
  }
  const std::size_t end = std::min(line.find(separator, at), line.size());
  cell = line.substr(at, end - at);
  return end;
}

[[nodiscard]] bool numbers_fit(const std::vector<std::string>& cells, const TracyLayout& layout, std::size_t shift) {
  for (std::size_t i = 0; i < layout.columns.size(); ++i) {
    if (!layout.is_number(i)) continue;
    const std::string& cell = cells[i + (i > 0 ? shift : 0)];
    double value = 0;
    // Rows of plots leave them empty, but for the time.
    if (cell.empty() && layout.columns[i] != TracyColumn::start) continue;
    if (!read_number(trimmed(cell), value)) return false;
  }
  return true;
}

[[nodiscard]] std::string joined(const std::vector<std::string>& cells, std::size_t first, std::size_t last, char by) {
  std::string text = cells[first];
  for (std::size_t i = first + 1; i <= last; ++i) text.append(1, by).append(cells[i]);
  return text;
}

std::size_t TracyLayout::place(TracyColumn column) const noexcept {
  const auto found = std::find(columns.begin(), columns.end(), column);
  return found == columns.end() ? kAbsent : static_cast<std::size_t>(found - columns.begin());
}

bool TracyLayout::is_number(std::size_t place) const noexcept {
  const TracyColumn column = columns[place];
  if (table == TracyTable::statistics) return column != TracyColumn::name && column != TracyColumn::file;
  return column != TracyColumn::name && column != TracyColumn::file && column != TracyColumn::other;
}

Result<TracyLayout> read_tracy_header(std::string_view line) {
  line = trimmed(line);
  TracyLayout layout;
  layout.separator = separator_of(line);
  for (std::size_t at = 0; at <= line.size();) {
    const std::size_t end = std::min(line.find(layout.separator, at), line.size());
    const std::string_view name = trimmed(line.substr(at, end - at));
    const auto known = std::find_if(std::begin(kKnown), std::end(kKnown),
                                    [&](const KnownColumn& column) { return column.name == name; });
    const bool is_new = known != std::end(kKnown) && layout.place(known->column) == TracyLayout::kAbsent;
    layout.names.emplace_back(name);
    layout.columns.push_back(is_new ? known->column : TracyColumn::other);
    at = end + 1;
    if (layout.names.size() > kMostTracyColumns) {
      return Error{fmt::format("its first line names more than {} columns", kMostTracyColumns)};
    }
  }
  if (layout.names.size() == 2 && has(layout, "MessageName") && has(layout, "total_ns")) {
    layout.table = TracyTable::messages;
    layout.columns[static_cast<std::size_t>(std::find(layout.names.begin(), layout.names.end(), "total_ns") -
                                            layout.names.begin())] = TracyColumn::start;
    return layout;
  }
  if (layout.columns.front() != TracyColumn::name) return Error{"its first line has no column name"};
  if (std::all_of(std::begin(kStatistics), std::end(kStatistics), [&](auto name) { return has(layout, name); })) {
    layout.table = TracyTable::statistics;
    return layout;
  }
  if (layout.place(TracyColumn::start) == TracyLayout::kAbsent ||
      layout.place(TracyColumn::duration) == TracyLayout::kAbsent) {
    return Error{"its first line names neither zones, messages nor statistics"};
  }
  layout.table = has(layout, "GPU execution time") ? TracyTable::gpu_zones : TracyTable::zones;
  return layout;
}

int probe_tracy_csv_text(std::string_view text) {
  constexpr int kCertain = 95;
  const std::size_t end = text.find('\n');
  return read_tracy_header(text.substr(0, std::min(end, text.size()))) ? kCertain : 0;
}

bool split_tracy_row(std::string_view line, const TracyLayout& layout, std::vector<std::string>& cells) {
  const std::size_t wanted = layout.columns.size();
  std::size_t count = 0;
  for (std::size_t at = 0;; ++at) {
    if (count == cells.size()) cells.emplace_back();
    at = take_cell(line, at, layout.separator, cells[count++]);
    if (at >= line.size()) break;
  }
  cells.resize(count);
  if (count < wanted) return false;
  const std::size_t more = count - wanted;
  // As much as can be belongs to the text at the row's end, the rest to its name.
  const bool text_at_end = !layout.is_number(wanted - 1);
  for (std::size_t in_name = text_at_end ? 0 : more; in_name <= more; ++in_name) {
    if (!numbers_fit(cells, layout, in_name)) continue;
    if (more == 0) return true;
    cells[wanted - 1 + in_name] = joined(cells, wanted - 1 + in_name, count - 1, layout.separator);
    cells[0] = joined(cells, 0, in_name, layout.separator);
    cells.erase(cells.begin() + 1, cells.begin() + 1 + static_cast<std::ptrdiff_t>(in_name));
    cells.resize(wanted);
    return true;
  }
  return false;
}

// The tables that tracy-csvexport's become.

using namespace columns;

[[nodiscard]] tracy::TracyTableKind kind_of(TracyTable table) noexcept {
  return table == TracyTable::gpu_zones ? tracy::TracyTableKind::gpu_zone : tracy::TracyTableKind::zone;
}

[[nodiscard]] Schema statistics_schema(const TracyLayout& layout) {
  Schema schema = make_schema({"tracy_statistics", EventKind::table, layout.names.front()});
  schema.columns.push_back(tracy::tracy_column(tracy::TracyTableKind::zone, "source"));
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const std::string& name = layout.names[i];
    const bool is_real = name == "total_perc" || name == "mean_ns" || name == "std_ns";
    const std::string_view unit = name.ends_with("_ns") ? "ns" : name == "total_perc" ? "%" : "";
    schema.columns.push_back(make_column({name.empty() ? fmt::format("column_{}", i + 1) : name, is_real ? kReal : kInt,
                                          unit, kOperation, "", "As the file has it."}));
  }
  return schema;
}

// First "source", then "thread" where the file has one, then the columns that are not known, in the file's order; of
// messages their text alone.
[[nodiscard]] Schema tracy_schema(const TracyLayout& layout) {
  if (layout.table == TracyTable::statistics) return statistics_schema(layout);
  if (layout.table == TracyTable::messages) {
    Schema schema = tracy::tracy_table_without_columns(tracy::TracyTableKind::message, layout.names.front());
    schema.columns.push_back(tracy::tracy_column(tracy::TracyTableKind::message, "message"));
    return schema;
  }
  const tracy::TracyTableKind kind = kind_of(layout.table);
  Schema schema = tracy::tracy_table_without_columns(kind, layout.names.front());
  schema.columns.push_back(tracy::tracy_column(kind, "source"));
  if (layout.place(TracyColumn::thread) != TracyLayout::kAbsent) {
    schema.columns.push_back(tracy::tracy_column(kind, "thread"));
  }
  for (std::size_t i = 0; i < layout.names.size(); ++i) {
    if (layout.columns[i] != TracyColumn::other) continue;
    const std::string& name = layout.names[i];
    Column column = tracy::tracy_column(kind, name.empty() ? fmt::format("column_{}", i + 1) : name);
    column.type = ColumnType::text;
    schema.columns.push_back(std::move(column));
  }
  return schema;
}

[[nodiscard]] Schema tracy_plot_schema() { return tracy::tracy_table(tracy::TracyTableKind::plot); }

constexpr std::size_t kTracySortMemoryBytes = 192U << 20;  // packed events beyond this go to a temporary file
constexpr std::uint32_t kMostTracks = 8'000;               // of threads and plots; further ones share one
constexpr std::size_t kLongestRow = 1U << 20;              // of a message that goes over several lines
constexpr std::int64_t kLargestTime = std::int64_t{1} << 61;

class TracyCsvImport {
 public:
  TracyCsvImport(std::string name, const ImportOptions& options, EventSink& sink)
      : name_(std::move(name)), options_(options), writer_(sink), spill_(kTracySortMemoryBytes) {}
  Result<void> run(std::unique_ptr<json::ByteSource> source);

 private:
  struct Lane {
    std::string name;
    TrackNumber track = kNone;
    TrackNumber doubtful = kNone;  // of its events whose times cannot be true
    Track of = {};
  };
  Result<void> read(LineBlocks& blocks, std::string_view first, std::vector<char>& buffer);
  void take_line(std::string_view line);
  void take_row();
  void take_zone();
  void take_plot_sample();
  void take_message();
  void take_statistics();
  void fill_zone();
  void skip(std::uint64_t& count);
  [[nodiscard]] std::string_view cell(TracyColumn column) const;
  [[nodiscard]] std::optional<std::int64_t> number(TracyColumn column) const;
  [[nodiscard]] StringId source();
  [[nodiscard]] std::uint32_t lane_of(std::map<std::string, std::uint32_t, std::less<>>& numbers,
                                      std::vector<Lane>& lanes, std::string_view name) const;
  Result<void> write_events();
  Result<void> write_samples();
  void write_report();
  [[nodiscard]] Error cancelled() const { return Error{fmt::format("{}: the import was cancelled", name_)}; }

  std::string name_;
  const ImportOptions& options_;
  SessionWriter writer_;
  ChunkSpill spill_;
  TracyLayout layout_;
  std::optional<EventSorter> events_;
  std::optional<EventSorter> samples_;
  std::map<std::string, std::uint32_t, std::less<>> thread_numbers_;
  std::map<std::string, std::uint32_t, std::less<>> plot_numbers_;
  std::vector<Lane> threads_;
  std::vector<tracks::TimeSketch> sketches_;  // of the same
  std::vector<Lane> plots_;
  std::vector<std::string> cells_;
  std::set<std::string> files_;
  std::string row_;  // of a message whose lines have not all come
  ClockNumber clock_ = kNone;
  TrackNumber statistics_ = kNone;
  std::uint64_t line_ = 0;
  std::uint64_t rows_ = 0;
  std::uint64_t not_rows_ = 0;
  std::uint64_t bad_times_ = 0;
  std::uint64_t doubtful_ = 0;
  std::uint64_t first_skipped_ = 0;
};

Result<void> TracyCsvImport::run(std::unique_ptr<json::ByteSource> source) {
  LineBlocks blocks(std::move(source));
  std::vector<char> buffer;
  const std::string_view first = blocks.next(buffer);
  if (first.empty()) {
    if (blocks.long_lines() > 0) return Error{name_ + ": its lines are too long for a table"};
    return Error{blocks.failure().empty() ? fmt::format("{}: the file is empty; was its writer stopped early?", name_)
                                          : blocks.failure()};
  }
  const std::size_t end = std::min(first.find('\n'), first.size());
  Result<TracyLayout> layout = read_tracy_header(first.substr(0, end));
  if (!layout) return Error{fmt::format("{}: {}; write the file by tracy-csvexport", name_, layout.message())};
  layout_ = std::move(layout).value();
  events_.emplace(tracy_schema(layout_), spill_, EventSorter::Options{});
  samples_.emplace(tracy_plot_schema(), spill_, EventSorter::Options{});
  clock_ = writer_.add_clock({.name = "Tracy", .anchors = {{0, 0}}});
  line_ = 1;
  if (Result<void> done = read(blocks, first.substr(std::min(end + 1, first.size())), buffer); !done) return done;
  if (Result<void> done = write_events(); !done) return done;
  if (Result<void> done = write_samples(); !done) return done;
  ImportReport about_end;
  about_end.add(blocks);
  about_end.write(writer_);
  not_rows_ += blocks.long_lines();
  write_report();
  return writer_.finish();
}

Result<void> TracyCsvImport::read(LineBlocks& blocks, std::string_view first, std::vector<char>& buffer) {
  for (std::string_view text = first;;) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      ++line_;
      take_line(text.substr(0, end));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (writer_.cancelled()) return cancelled();
    if (options_.progress) options_.progress(blocks.file_bytes_read(), blocks.file_bytes());
    text = blocks.next(buffer);
    if (text.empty()) break;
  }
  if (!row_.empty()) skip(not_rows_);
  return {};
}

void TracyCsvImport::skip(std::uint64_t& count) {
  if (not_rows_ + bad_times_ == 0) first_skipped_ = line_;
  ++count;
}

void TracyCsvImport::take_line(std::string_view line) {
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  if (layout_.table != TracyTable::messages) {
    if (line.find_first_not_of(" \t") == std::string_view::npos) return;
    if (!split_tracy_row(line, layout_, cells_)) return skip(not_rows_);
    return take_row();
  }
  // Messages may go over several lines; the last one ends with the time.
  if (row_.empty() && line.find_first_not_of(" \t") == std::string_view::npos) return;
  row_ += (row_.empty() ? "" : "\n") + std::string(line);
  const std::size_t last = row_.rfind(layout_.separator);
  std::int64_t time = 0;
  if (last != std::string::npos && read_number(trimmed(std::string_view(row_).substr(last + 1)), time)) {
    cells_ = {row_.substr(0, last), row_.substr(last + 1)};
    row_.clear();
    return take_row();
  }
  if (row_.size() > kLongestRow) {
    row_.clear();
    skip(not_rows_);
  }
}

void TracyCsvImport::take_row() {
  ++rows_;
  switch (layout_.table) {
    case TracyTable::zones:
      return cell(TracyColumn::duration).empty() ? take_plot_sample() : take_zone();
    case TracyTable::gpu_zones:
      return take_zone();
    case TracyTable::messages:
      return take_message();
    case TracyTable::statistics:
      return take_statistics();
  }
}

std::string_view TracyCsvImport::cell(TracyColumn column) const {
  const std::size_t place = layout_.place(column);
  return place == TracyLayout::kAbsent ? std::string_view{} : std::string_view(cells_[place]);
}

std::optional<std::int64_t> TracyCsvImport::number(TracyColumn column) const {
  std::int64_t value = 0;
  if (!read_number(trimmed(cell(column)), value) || value < 0 || value > kLargestTime) return std::nullopt;
  return value;
}

StringId TracyCsvImport::source() {
  const std::string file(cell(TracyColumn::file));
  if (file.empty()) return 0;
  files_.insert(file);
  const std::string_view line = cell(TracyColumn::line);
  return writer_.intern(line.empty() ? file : fmt::format("{}:{}", file, line));
}

std::uint32_t TracyCsvImport::lane_of(std::map<std::string, std::uint32_t, std::less<>>& numbers,
                                      std::vector<Lane>& lanes, std::string_view name) const {
  if (const auto found = numbers.find(name); found != numbers.end()) return found->second;
  if (lanes.size() == kMostTracks) return kMostTracks - 1;
  const auto number = static_cast<std::uint32_t>(lanes.size());
  lanes.push_back({.name = std::string(name)});
  numbers.emplace(name, number);
  return number;
}

void TracyCsvImport::take_zone() {
  const std::optional<std::int64_t> start = number(TracyColumn::start);
  const std::optional<std::int64_t> duration = number(TracyColumn::duration);
  if (!start || !duration) return skip(bad_times_);
  events_->begin();
  fill_zone();
  const std::uint32_t thread = lane_of(thread_numbers_, threads_, cell(TracyColumn::thread));
  events_->commit(thread, *start, *duration, writer_.intern(cells_[0]));
  sketches_.resize(threads_.size());
  sketches_[thread].add(*start, *duration);
}

void TracyCsvImport::fill_zone() {
  std::size_t column = 0;
  if (const StringId where = source(); where != 0) events_->string(column, where);
  ++column;
  if (layout_.place(TracyColumn::thread) != TracyLayout::kAbsent) {
    std::int64_t thread = 0;
    if (read_number(trimmed(cell(TracyColumn::thread)), thread)) events_->integer(column, thread);
    ++column;
  }
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (layout_.columns[i] != TracyColumn::other) continue;
    if (!cells_[i].empty()) events_->text(column, cells_[i]);
    ++column;
  }
}

void TracyCsvImport::take_plot_sample() {
  const std::optional<std::int64_t> start = number(TracyColumn::start);
  double value = 0;
  if (!start || !read_number(trimmed(cells_.back()), value)) return skip(bad_times_);
  samples_->begin();
  samples_->real(0, value);
  samples_->commit(lane_of(plot_numbers_, plots_, cells_[0]), *start, 0, 0);
}

void TracyCsvImport::take_message() {
  const std::optional<std::int64_t> start = number(TracyColumn::start);
  if (!start) return skip(bad_times_);
  events_->begin();
  events_->text(0, cells_[0]);
  events_->commit(lane_of(thread_numbers_, threads_, ""), *start, 0, writer_.intern(tracy::message_name(cells_[0])));
}

void TracyCsvImport::take_statistics() {
  if (statistics_ == kNone) {
    statistics_ = writer_.add_track({.name = "Statistics of zones",
                                     .kind = "table",
                                     .device = "Tracy",
                                     .schema = writer_.add_schema(events_->schema())});
  }
  const StringId where = source();
  Row row = writer_.begin_event(statistics_, 0, 0, writer_.intern(cells_[0]));
  std::size_t column = 0;
  if (where != 0) row.string(column, where);
  const Schema& schema = events_->schema();
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    if (layout_.columns[i] != TracyColumn::other) continue;
    ++column;
    std::int64_t whole = 0;
    double real = 0;
    if (schema.columns[column].type == ColumnType::float64) {
      if (read_number(trimmed(cells_[i]), real)) row.real(column, real);
    } else if (read_number(trimmed(cells_[i]), whole)) {
      row.integer(column, whole);
    }
  }
}

Result<void> TracyCsvImport::write_events() {
  if (events_->event_count() == 0) return {};
  const Schema& schema = events_->schema();
  const SchemaNumber number = writer_.add_schema(schema);
  const bool messages = layout_.table == TracyTable::messages;
  std::vector<tracks::SketchedTrack> known;
  for (const tracks::TimeSketch& sketch : sketches_) known.push_back({&sketch, false});
  const tracks::TimeBounds bounds = tracks::bounds_of(known, 1);
  const Result<void> done = events_->merge([&](const SortedEvent& event) {
    Lane& lane = threads_[event.track];
    if (lane.track == kNone) {
      const std::string name = messages                                 ? "Messages"
                               : layout_.table == TracyTable::gpu_zones ? "GPU"
                               : lane.name.empty()                      ? "Zones"
                                                                        : "Thread " + lane.name;
      lane.of = {.name = name,
                 .kind = layout_.table == TracyTable::gpu_zones ? "stream" : "host_thread",
                 .device = "Tracy",
                 .schema = number,
                 .clock = clock_};
      lane.track = writer_.add_track(lane.of);
    }
    const bool doubtful = !bounds.hold(event.start, event.duration);
    if (doubtful && lane.doubtful == kNone)
      lane.doubtful = writer_.add_track(tracks::doubtful_track(lane.of, kNone, lane.of.order));
    doubtful_ += doubtful ? 1 : 0;
    Row row = writer_.begin_event(doubtful ? lane.doubtful : lane.track, event.start, event.duration, event.name);
    copy_values(event, schema, row);
    return !writer_.cancelled();
  });
  if (!done) return done;
  if (writer_.cancelled() && writer_.status()) return cancelled();
  return writer_.status();
}

Result<void> TracyCsvImport::write_samples() {
  if (samples_->event_count() == 0) return {};
  const SchemaNumber number = writer_.add_schema(samples_->schema());
  const Result<void> done = samples_->merge([&](const SortedEvent& event) {
    Lane& lane = plots_[event.track];
    if (lane.track == kNone) {
      lane.track = writer_.add_track(
          {.name = lane.name, .kind = "counter", .device = "Tracy", .schema = number, .clock = clock_});
    }
    writer_.sample(lane.track, event.start, event.float64(0));
    return !writer_.cancelled();
  });
  if (!done) return done;
  if (writer_.cancelled() && writer_.status()) return cancelled();
  return writer_.status();
}

void TracyCsvImport::write_report() {
  writer_.set_meta("source_format", "tracy-csvexport");
  const std::uint64_t of_plots = samples_->event_count();
  const std::uint64_t of_events = rows_ - of_plots;
  if (of_events + not_rows_ > 0)
    set_row_counts(writer_, events_->schema().name, of_events + not_rows_, of_events - bad_times_);
  if (of_plots > 0) set_row_counts(writer_, "tracy_plot", of_plots, of_plots);
  if (not_rows_ > 0) {
    writer_.add_quality(
        {"rows_skipped", not_rows_,
         fmt::format("lines that fit the file's header in no way were skipped, the first is line {}; are "
                     "there line ends in names or texts?",
                     first_skipped_)});
  }
  if (bad_times_ > 0) {
    writer_.add_quality({"rows_skipped", bad_times_,
                         fmt::format("rows whose time, duration or value is no number, or negative, were skipped, the "
                                     "first in line {}; zones that had not ended look so",
                                     first_skipped_)});
  }
  if (doubtful_ > 0)
    writer_.add_quality({"impossible_times", doubtful_, std::string(tracks::kDoubtfulTimesAreSetAside)});
  if (rows_ == 0) {
    writer_.add_quality(
        {"no_rows", 1, "the file has a header but no rows; was the filter of tracy-csvexport too narrow?"});
  }
  if (threads_.size() == kMostTracks || plots_.size() == kMostTracks) {
    writer_.add_quality(
        {"tracks_shared", 1, fmt::format("more than {} threads or plots; the later ones share a track", kMostTracks)});
  }
  add_source_files(files_, options_.source_roots, "the zones name", writer_);
}

}  // namespace

int probe_tracy_csv(std::string_view head, const std::string& /*path*/) { return probe_tracy_csv_text(head); }

Result<void> import_tracy_csv(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink) {
  return TracyCsvImport(name, options, sink).run(std::move(bytes));
}

}  // namespace accelscope::capture::sources::tracy_csv
