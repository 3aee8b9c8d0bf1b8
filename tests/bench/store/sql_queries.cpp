// The questions that users ask in SQL, over ten million slices: 40 tracks, each with groups of one parent and four
// children inside it, 200 names. "must" is a tenth of what a trace processor with a row by row SQL engine needs for the
// same question over the same shape, or no more than it where that is below 200 ms already.
#include <fmt/format.h>

#include <algorithm>

#include "core/chunk/session_writer.h"
#include "core/sql/base/sql.h"
#include "tests/bench/base/figures.h"

namespace accelscope::bench {
namespace {

constexpr std::uint32_t kTracks = 40;
constexpr std::uint32_t kNames = 200;
constexpr std::uint32_t kChildren = 4;
constexpr std::uint32_t kLines = 200;

// Every tenth name holds "matmul".
std::string name_text(std::uint32_t i) { return fmt::format("{}_{}", i % 10 == 3 ? "matmul_op" : "activation", i); }

// The events as plain columns beside the store: what a yardstick scans.
struct NestedStore {
  std::unique_ptr<Store> store = Store::create().value();
  std::vector<std::uint32_t> names;
  std::vector<std::uint32_t> tracks;
  std::vector<std::int64_t> begins;
  std::vector<std::int64_t> durations;
};

class NestedMaker {
 public:
  NestedMaker(NestedStore& made, double ticks_per_ns) : made_(made), sink_(*made.store), writer_(sink_) {
    schema_ = writer_.add_schema({.name = "op", .columns = {{.name = "line", .type = ColumnType::string}}});
    if (ticks_per_ns != 1) clock_ = writer_.add_clock({.name = "cycles", .ticks_per_ns = ticks_per_ns});
    for (std::uint32_t i = 0; i < kNames; ++i) names_.push_back(writer_.intern(name_text(i)));
    for (std::uint32_t i = 0; i < kLines; ++i) lines_.push_back(writer_.intern(fmt::format("model.py:{}", i)));
  }
  bool make(std::uint64_t events) {
    const std::uint64_t groups = events / kTracks / (kChildren + 1);
    for (std::uint32_t track = 0; track < kTracks; ++track) {
      track_ = writer_.add_track(
          {.name = fmt::format("queue {}", track), .kind = "engine", .schema = schema_, .clock = clock_});
      std::int64_t at = 0;
      for (std::uint64_t i = 0; i < groups; ++i) at = add_group(at + random(200));
    }
    return writer_.finish().ok();
  }

 private:
  std::int64_t add_group(std::int64_t begin) {
    std::int64_t at = begin;
    std::int64_t children[kChildren][2];
    for (auto& child : children) {
      child[0] = at + random(50);
      child[1] = 50 + random(1000);
      at = child[0] + child[1];
    }
    at += random(50);
    add(0, begin, at - begin);
    for (const auto& child : children) add(1, child[0], child[1]);
    return at;
  }
  void add(std::uint32_t depth, std::int64_t begin, std::int64_t duration) {
    const auto name = static_cast<std::uint32_t>(random(kNames));
    Row row = writer_.begin_event_at(track_, depth, begin, duration, names_[name]);
    row.string(0, lines_[static_cast<std::size_t>(random(kLines))]);
    made_.names.push_back(name);
    made_.tracks.push_back(track_);
    made_.begins.push_back(begin);
    made_.durations.push_back(duration);
  }
  std::int64_t random(std::uint32_t bound) noexcept {  // xorshift64*
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return static_cast<std::int64_t>(((state_ * 0x2545F4914F6CDD1DU) >> 32) * bound >> 32);
  }

  NestedStore& made_;
  StoreSink sink_;
  SessionWriter writer_;
  SchemaNumber schema_ = 0;
  ClockNumber clock_ = kNone;
  TrackNumber track_ = 0;
  std::vector<StringId> names_;
  std::vector<StringId> lines_;
  std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

// Looks at every value, as a table of results would.
class Reader final : public listing::SqlRowVisitor {
 public:
  bool columns(const std::vector<std::string>&) override { return true; }
  bool row(const std::vector<listing::SqlValue>& values) override {
    ++rows_;
    for (const listing::SqlValue& value : values) {
      if (const auto* number = std::get_if<std::int64_t>(&value)) sum_ += static_cast<std::uint64_t>(*number);
    }
    return true;
  }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::uint64_t sum() const noexcept { return sum_; }

 private:
  std::uint64_t rows_ = 0;
  std::uint64_t sum_ = 0;
};

struct Question {
  const char* figure;
  std::string sql;
  double must_ms;
  std::function<void()> plain = {};  // the same over plain columns, one thread
};

class QueryBench {
 public:
  explicit QueryBench(const NestedStore& data) : data_(data), sql_(*data.store, data.store->snapshot(), pool_) {}

  void ask(const Question& question) {
    Reader planned;
    Reader plain;
    const std::uint64_t before = sql_.planned_answers();
    sql_.set_planned(true);
    const double planned_seconds = best_seconds(3, [&] { planned = read(question.sql); });
    const bool is_planned = sql_.planned_answers() > before;
    sql_.set_planned(false);
    const double row_seconds = seconds([&] { plain = read(question.sql); });
    const double plain_seconds = question.plain ? best_seconds(3, question.plain) : 0;
    const bool same = planned.rows() == plain.rows() && planned.sum() == plain.sum();
    report({question.figure, planned_seconds * 1e3, "ms", fmt::format("at most {}", question.must_ms),
            question.plain ? "a scan of plain columns, one thread" : "", plain_seconds * 1e3,
            fmt::format("{}; {} rows{}{}; row by row through SQLite {:.0f} ms; {} events, {} tracks, {} names",
                        question.sql, planned.rows(), same ? "" : ", NOT THE SAME AS ROW BY ROW",
                        is_planned ? "" : ", not by a loop over chunks", row_seconds * 1e3, data_.names.size(), kTracks,
                        kNames)});
  }

 private:
  Reader read(const std::string& sql) {
    Reader reader;
    TaskControl control;
    const Result<void> done = sql_.visit(sql, reader, control);
    if (!done) fmt::print(stderr, "{}: {}\n", sql, done.message());
    return reader;
  }

  const NestedStore& data_;
  WorkerPool pool_{1};  // and the thread that asks
  sql::Session sql_;
};

// Keeps the compiler from leaving a yardstick out.
volatile std::uint64_t retained_result = 0;

template <typename Wanted>
std::function<void()> plain_count(const NestedStore& data, Wanted wanted) {
  return [&data, wanted] {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < data.names.size(); ++i) count += wanted(i) ? 1 : 0;
    retained_result = count;
  };
}

template <typename Wanted>
std::function<void()> plain_groups(const NestedStore& data, const std::vector<std::uint32_t>& keys, Wanted wanted) {
  return [&data, &keys, wanted] {
    std::vector<std::pair<std::uint64_t, std::int64_t>> groups(std::max(kNames, kTracks));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!wanted(i)) continue;
      groups[keys[i]].first += 1;
      groups[keys[i]].second += data.durations[i];
    }
    retained_result = groups[0].first;
  };
}

void ask_all(const NestedStore& data, QueryBench& bench) {
  const std::int64_t end = data.store->snapshot()->end_ns;
  const std::int64_t from = end / 2;
  const std::int64_t to = from + end / 100;
  const std::int64_t longest = *std::max_element(data.durations.begin(), data.durations.end());
  const std::int64_t* begins = data.begins.data();
  const std::int64_t* durations = data.durations.data();
  const std::uint32_t* names = data.names.data();
  const auto all = [](std::size_t) { return true; };
  const auto overlaps = [=](std::size_t i) { return begins[i] < to && begins[i] + durations[i] > from; };
  const auto matmul = [=](std::size_t i) { return names[i] % 10 == 3; };
  const std::string window = fmt::format("ts_ns < {} AND ts_ns + dur_ns > {}", to, from);
  const std::string by_name = "SELECT name, count(*), sum(dur_ns) FROM slice";
  const auto top = [&data] {
    std::vector<std::int64_t> best(data.durations.begin(), data.durations.begin() + 100);
    std::make_heap(best.begin(), best.end(), std::greater<>());
    for (const std::int64_t duration : data.durations) {
      if (duration <= best.front()) continue;
      std::pop_heap(best.begin(), best.end(), std::greater<>());
      best.back() = duration;
      std::push_heap(best.begin(), best.end(), std::greater<>());
    }
    retained_result = static_cast<std::uint64_t>(best.front());
  };
  const std::vector<Question> questions{
      {"sql_count", "SELECT count(*) FROM slice", 80},
      {"sql_by_name", by_name + " GROUP BY name", 268, plain_groups(data, data.names, all)},
      {"sql_by_track", "SELECT track_id, count(*), sum(dur_ns) FROM slice GROUP BY track_id", 168,
       plain_groups(data, data.tracks, all)},
      {"sql_window", by_name + " WHERE " + window + " GROUP BY name", 117, plain_groups(data, data.names, overlaps)},
      {"sql_window_bounded", fmt::format("{} WHERE ts_ns > {} AND {} GROUP BY name", by_name, from - longest, window),
       32, plain_groups(data, data.names, overlaps)},
      {"sql_top", "SELECT id, ts_ns, dur_ns, name FROM slice ORDER BY dur_ns DESC LIMIT 100", 74, top},
      {"sql_glob", "SELECT count(*) FROM slice WHERE name GLOB '*matmul*'", 44, plain_count(data, matmul)},
      {"sql_glob_rows", "SELECT id, ts_ns, dur_ns, track_id FROM slice WHERE name GLOB '*matmul*'", 85},
      {"sql_name", fmt::format("SELECT count(*) FROM slice WHERE name = '{}'", name_text(7)), 25,
       plain_count(data, [=](std::size_t i) { return names[i] == 7; })},
      {"sql_like", "SELECT count(*) FROM slice WHERE name LIKE '%matmul%'", 48},
      {"sql_regexp", "SELECT count(*) FROM slice WHERE regexp('matmul.*[37]$', name)", 92},
      {"sql_long", "SELECT count(*) FROM slice WHERE dur_ns > 1000", 24,
       plain_count(data, [=](std::size_t i) { return durations[i] > 1000; })},
      {"sql_distinct", "SELECT DISTINCT name FROM slice", 183},
      {"sql_by_line", "SELECT line, count(*), sum(dur_ns) FROM op GROUP BY line ORDER BY 3 DESC", 1706},
      {"sql_by_track_name",
       "SELECT track.name, count(*), sum(dur_ns) / 1e6 AS ms FROM slice JOIN track ON slice.track_id = track.id "
       "GROUP BY track.name ORDER BY ms DESC",
       168},
      {"sql_one_track",
       fmt::format("SELECT id, ts_ns, dur_ns FROM slice WHERE track_id = 7 AND ts_ns >= {} ORDER BY ts_ns LIMIT 1000",
                   from),
       0.7},
  };
  for (const Question& question : questions) bench.ask(question);
}

}  // namespace

void bench_sql_queries(const BenchOptions& options) {
  const auto events = static_cast<std::uint64_t>(10e6 * options.scale);
  {
    NestedStore data;
    if (!NestedMaker(data, 1).make(events)) return;
    QueryBench bench(data);
    ask_all(data, bench);
  }
  // Durations of another clock's ticks must be turned into ns one by one.
  NestedStore cycles;
  if (!NestedMaker(cycles, 1.4).make(events)) return;
  QueryBench bench(cycles);
  bench.ask({"sql_by_name_cycles", "SELECT name, count(*), sum(dur_ns) FROM slice GROUP BY name", 268});
  bench.ask({"sql_by_track_cycles", "SELECT track_id, count(*), sum(dur_ns) FROM slice GROUP BY track_id", 168});
  bench.ask({"sql_top_cycles", "SELECT id, ts_ns, dur_ns, name FROM slice ORDER BY dur_ns DESC LIMIT 100", 74});
}

}  // namespace accelscope::bench
