// External intervals.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <optional>

#include "capture/sources/base/csv_table.h"
#include "capture/sources/base/sinks.h"
#include "capture/sources/tracks/unordered_session.h"
#include "capture/sources/vtune/source.h"
#include "core/base/text.h"
#include "core/model/column_spec.h"

namespace accelscope::capture::sources::vtune {
namespace {

using namespace columns;
using tracks::UnorderedSession;

constexpr std::string_view kIntervalHeader = "name,start_tsc.";
constexpr std::int64_t kLargestIntervalTime = std::int64_t{1} << 62;

constexpr ColumnSpec kIntervalColumns[] = {
    {"pid", kInt, "", kIds, "Process", "The process that it is of."},
    {"tid", kInt, "", kIds, "Thread", "The thread that it is of."},
};

constexpr std::size_t kProcessColumn = 0, kThreadColumn = 1;  // a frame is of no thread

enum class IntervalClock : std::uint8_t { ticks, nanoseconds, utc };

[[nodiscard]] IntervalClock clock_of(std::string_view name) noexcept {
  if (name == "UTC") return IntervalClock::utc;
  return name == "CLOCK_MONOTONIC_RAW" ? IntervalClock::nanoseconds : IntervalClock::ticks;
}

// "octagon53" of "phases-hostname-octagon53.csv".
[[nodiscard]] std::string host_of(const std::string& path) {
  constexpr std::string_view kWord = "-hostname-";
  const std::string name = file_name(path);
  const std::size_t at = name.find(kWord);
  if (at == std::string::npos) return {};
  const std::string host = name.substr(at + kWord.size());
  return host.substr(0, host.find(".csv"));
}

class IntervalImport {
 public:
  IntervalImport(const std::string& name, const ImportOptions& options, EventSink& sink)
      : name_(name), options_(options), session_(sink), host_(host_of(name)) {}

  Result<void> run(std::unique_ptr<json::ByteSource> bytes);

 private:
  void take(const CsvTable& table);
  [[nodiscard]] std::optional<std::int64_t> time_of(std::string_view cell) const;
  [[nodiscard]] std::uint32_t row_of(std::optional<std::int64_t> process, std::optional<std::int64_t> thread);

  std::string name_;
  const ImportOptions& options_;
  UnorderedSession session_;
  std::string host_;
  IntervalClock clock_ = IntervalClock::ticks;
  std::uint32_t tasks_ = kNone;
  std::uint32_t frames_ = kNone;
  std::map<std::pair<std::optional<std::int64_t>, std::optional<std::int64_t>>, std::uint32_t> rows_;
  tracks::EventValues values_;
  std::uint64_t bad_times_ = 0;
};

std::optional<std::int64_t> IntervalImport::time_of(std::string_view cell) const {
  const std::optional<std::int64_t> time = clock_ == IntervalClock::utc ? unix_ns_of_utc(cell) : csv_integer(cell);
  return time && *time >= 0 && *time < kLargestIntervalTime ? time : std::nullopt;
}

// Without a thread it is a frame.
std::uint32_t IntervalImport::row_of(std::optional<std::int64_t> process, std::optional<std::int64_t> thread) {
  const auto [row, added] = rows_.try_emplace({process, thread}, kNone);
  if (!added) return row->second;
  Track track;
  track.kind = thread ? "host_thread" : "layer";
  track.name = thread ? fmt::format("thread {}", *thread) : "frames";
  track.host = host_.empty() ? std::string("host") : host_;
  if (process) track.host += fmt::format(" process {}", *process);
  row->second = session_.add_track(thread ? tasks_ : frames_, std::move(track),
                                   {thread ? tracks::kHostRows : tracks::kMainThreadRows, thread.value_or(0)});
  return row->second;
}

void IntervalImport::take(const CsvTable& table) {
  const std::optional<std::int64_t> begin = time_of(table.cell(std::size_t{1}));
  const std::optional<std::int64_t> end = time_of(table.cell(std::size_t{2}));
  if (!begin || !end) {
    ++bad_times_;
    return;
  }
  const std::optional<std::int64_t> process = csv_integer(table.cell(std::size_t{3}));
  const std::optional<std::int64_t> thread = csv_integer(table.cell(std::size_t{4}));
  values_.clear();
  if (process) values_.integer(kProcessColumn, *process);
  if (thread) values_.integer(kThreadColumn, *thread);
  session_.write(row_of(process, thread), *begin, *end - *begin, session_.intern(table.cell(std::size_t{0})), values_);
}

Result<void> IntervalImport::run(std::unique_ptr<json::ByteSource> bytes) {
  Result<CsvTable> table = CsvTable::open(std::move(bytes), name_, {});
  if (!table) return table.error();
  constexpr std::size_t kIntervalColumnCount = 5;
  const std::vector<std::string>& names = table->names();
  if (names.size() < kIntervalColumnCount || !names[1].starts_with("start_tsc.")) {
    return Error{name_ + ": its first line is not name,start_tsc.CLOCK,end_tsc,pid,tid"};
  }
  const std::string clock = names[1].substr(std::string_view("start_tsc.").size());
  clock_ = clock_of(clock);
  tasks_ = session_.add_table(
      make_schema({"task", EventKind::slice, "name", "What the program calls it."}, kIntervalColumns));
  frames_ = session_.add_table(make_schema({"frame", EventKind::slice, "name", "What the program calls it."},
                                           std::span(kIntervalColumns, kThreadColumn)));
  while (table->next()) {
    take(*table);
    if (session_.cancelled()) return Error{fmt::format("{}: the import was cancelled", name_)};
    if (options_.progress) options_.progress(table->blocks().file_bytes_read(), table->blocks().file_bytes());
  }
  session_.writer().set_meta("source_format", "VTune external intervals");
  session_.writer().set_meta("clock", clock);
  set_row_counts(session_.writer(), "interval", table->rows() + table->bad_rows(), table->rows() - bad_times_);
  ImportReport& report = session_.report();
  report.note_unread("the table of intervals", {names.begin() + kIntervalColumnCount, names.end()});
  report.note("rows_skipped",
              fmt::format("lines that fit the file's header in no way were skipped, the first is line {}",
                          table->first_bad_line()),
              table->bad_rows());
  report.note("rows_skipped", "rows whose times are none, or negative, were skipped", bad_times_);
  report.add(table->blocks());
  if (table->rows() == 0) report.note("no_rows", "the file has a header but no intervals");
  if (clock_ == IntervalClock::ticks) {
    report.note(
        "frequency_missing",
        fmt::format("times are ticks of {}, whose frequency is not in the file: a tick is shown as 1 ns", clock));
  }
  UnorderedSession::Finish finish{.clock = clock, .path = name_};
  if (clock_ == IntervalClock::utc) finish.unix_ns = 0;
  return session_.finish(finish);
}

}  // namespace

std::optional<std::int64_t> unix_ns_of_utc(std::string_view text) noexcept {
  text = trimmed(text);
  // "2013-08-28 01:02:03" and a fraction.
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kShape.size()) return std::nullopt;
  int numbers[6] = {};
  std::size_t number = 0;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    if (kShape[i] == 'd') {
      if (!is_digit(text[i])) return std::nullopt;
      numbers[number] = numbers[number] * 10 + (text[i] - '0');
    } else if (text[i] == kShape[i] || (kShape[i] == ' ' && text[i] == 'T')) {
      ++number;
    } else {
      return std::nullopt;
    }
  }
  const std::chrono::year_month_day day{std::chrono::year(numbers[0]),
                                        std::chrono::month(static_cast<unsigned>(numbers[1])),
                                        std::chrono::day(static_cast<unsigned>(numbers[2]))};
  constexpr int kFirstYear = 1970, kLastYear = 2200;
  if (!day.ok() || numbers[0] < kFirstYear || numbers[0] > kLastYear) return std::nullopt;
  const std::int64_t seconds = std::int64_t{std::chrono::sys_days(day).time_since_epoch().count()} * 86'400 +
                               numbers[3] * 3'600 + numbers[4] * 60 + numbers[5];
  std::int64_t fraction = 0;
  std::int64_t unit = 1'000'000'000;
  std::string_view rest = text.substr(kShape.size());
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1)) {
      unit /= 10;
      fraction += (rest.front() - '0') * unit;
    }
  }
  if (!rest.empty() && rest != "Z") return std::nullopt;
  return seconds * 1'000'000'000 + fraction;
}

int probe_intervals(std::string_view head, const std::string& /*path*/) {
  constexpr int kCertain = 97;
  return head.starts_with(kIntervalHeader) ? kCertain : 0;
}

Result<void> import_intervals(std::unique_ptr<json::ByteSource> bytes, const std::string& name,
                              const ImportOptions& options, EventSink& sink) {
  AsyncSink receiver(sink);
  if (Result<void> done = IntervalImport(name, options, receiver).run(std::move(bytes)); !done) return done;
  return receiver.finish();
}

Result<void> import_intervals(const std::string& path, const ImportOptions& options, EventSink& sink) {
  Result<std::unique_ptr<json::ByteSource>> source = json::ByteSource::open(path);
  if (!source) return source.error();
  return import_intervals(std::move(source).value(), path, options, sink);
}

}  // namespace accelscope::capture::sources::vtune
