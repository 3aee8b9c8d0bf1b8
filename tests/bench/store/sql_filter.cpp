// SQL that filters the events of a large session row by row: what the scan costs, and what a row costs that comes out.
#include <fmt/format.h>

#include <algorithm>

#include "core/sql/base/sql.h"
#include "tests/bench/base/figures.h"
#include "tests/bench/base/generated_store.h"

namespace accelscope::bench {
namespace {

constexpr std::uint32_t kNames = 1000;
constexpr std::uint32_t kLongest = 570;  // durations are 64 to 575: 1 % of the events are longer

// One name in ten holds an x.
std::string name_text(std::uint32_t i) { return fmt::format("{}_{}", i % 10 == 3 ? "matmul_x" : "activate", i); }

class RowCounter final : public listing::SqlRowVisitor {
 public:
  bool columns(const std::vector<std::string>&) override { return true; }
  bool row(const std::vector<listing::SqlValue>& values) override {
    ++rows_;
    first_ = std::get<std::int64_t>(values[0]);
    return true;
  }
  [[nodiscard]] std::uint64_t rows() const noexcept { return rows_; }
  [[nodiscard]] std::int64_t first() const noexcept { return first_; }

 private:
  std::uint64_t rows_ = 0;
  std::int64_t first_ = 0;  // first value of the last row
};

struct Measured {
  double seconds = 0;
  std::uint64_t rows = 0;
  std::int64_t value = 0;
};

class FilterBench {
 public:
  explicit FilterBench(const BenchOptions& options)
      : data_(generate_store(static_cast<std::uint64_t>(50e6 * options.scale), kNames, name_text)) {
    if (!data_) return;
    sql_ = std::make_unique<sql::Session>(*data_->store, data_->store->snapshot(), pool_);
    sql_->set_planned(false);  // what every other query goes through
  }
  [[nodiscard]] bool ready() const noexcept { return sql_ != nullptr; }
  void run();

 private:
  Measured measure(const std::string& query) {
    Measured measured;
    measured.seconds = best_seconds(3, [&] {
      RowCounter counter;
      TaskControl control;
      const Result<void> done = sql_->visit(query, counter, control);
      if (!done) fmt::print(stderr, "{}: {}\n", query, done.message());
      measured.rows = counter.rows();
      measured.value = counter.first();
    });
    return measured;
  }

  // Two plain columns, the answer per event in registers, the same threads.
  template <typename Keep>
  double plain_scan_seconds(Keep keep) {
    return best_seconds(3, [&] {
      std::vector<std::uint64_t> hits(pool_.concurrency() * 8, 0);
      constexpr std::size_t kAtOnce = 1U << 20;
      TaskControl control;
      pool_.for_each((data_->names.size() + kAtOnce - 1) / kAtOnce, control, [&](std::size_t part, std::size_t worker) {
        const std::size_t end = std::min(data_->names.size(), (part + 1) * kAtOnce);
        std::uint64_t found = 0;
        for (std::size_t i = part * kAtOnce; i < end; ++i) found += static_cast<std::uint64_t>(keep(i));
        hits[worker * 8] += found;
      });
    });
  }

  void rate(const char* figure, const std::string& query, double plain_seconds) {
    const Measured measured = measure(query);
    const auto events = static_cast<double>(data_->names.size());
    report({figure, events / measured.seconds / 1e6, "M rows/s", "at least 25",
            "a plain scan of the column, two threads", events / plain_seconds / 1e6,
            fmt::format("{}: {} events, {} rows, last value {}, {} names; {}", query, data_->names.size(),
                        measured.rows, measured.value, kNames, kGeneratedRecipe)});
  }
  void range(const char* figure, const std::string& query) {
    const Measured measured = measure(query);
    report({figure, measured.seconds * 1e3, "ms", "at most 100", "", 0,
            fmt::format("{}: {} events, {} rows, last value {}; {}", query, data_->names.size(), measured.rows,
                        measured.value, kGeneratedRecipe)});
  }
  void row_cost(const char* figure, const std::string& query) {
    const Measured measured = measure(query);
    report({figure, measured.seconds * 1e9 / static_cast<double>(std::max<std::uint64_t>(1, measured.rows)), "ns/row",
            "", "", 0,
            fmt::format("{}: {} events, {} rows; {}", query, data_->names.size(), measured.rows, kGeneratedRecipe)});
  }

  WorkerPool pool_{1};  // and the thread that asks
  std::unique_ptr<GeneratedStore> data_;
  std::unique_ptr<sql::Session> sql_;
};

void FilterBench::run() {
  constexpr std::uint32_t kWanted = 123;
  const std::string name = name_text(kWanted);
  const std::string longer = fmt::format("dur_ns > {}", kLongest);
  const double by_duration = plain_scan_seconds([&](std::size_t i) { return data_->durations[i] > kLongest; });
  const double by_name = plain_scan_seconds([&](std::size_t i) { return data_->names[i] == kWanted; });
  rate("sql_filter_duration_count", "SELECT count(*) FROM slice WHERE " + longer, by_duration);
  rate("sql_filter_duration_rows", "SELECT id, ts_ns, dur_ns FROM slice WHERE " + longer, by_duration);
  rate("sql_filter_name_count", fmt::format("SELECT count(*) FROM slice WHERE name = '{}'", name), by_name);
  rate("sql_filter_name_rows", fmt::format("SELECT id, ts_ns, dur_ns FROM slice WHERE name = '{}'", name), by_name);

  const std::int64_t length = data_->store->snapshot()->end_ns;
  const std::int64_t from = length / 2;
  const std::int64_t to = from + length / 100;
  const std::string overlap = fmt::format("WHERE ts_ns < {} AND ts_ns + dur_ns > {}", to, from);
  const std::string between = fmt::format("WHERE ts_ns BETWEEN {} AND {}", from, to);
  range("sql_range_overlap_count", "SELECT count(*) FROM slice " + overlap);
  range("sql_range_overlap_rows", "SELECT id, ts_ns, dur_ns FROM slice " + overlap);
  range("sql_range_between_count", "SELECT count(*) FROM slice " + between);
  range("sql_range_between_rows", "SELECT id, ts_ns, dur_ns FROM slice " + between);

  row_cost("sql_row_of_glob", "SELECT id, ts_ns, dur_ns, track_id FROM slice WHERE name GLOB '*x*'");
  row_cost("sql_row_with_name", "SELECT id, name, line FROM slice_event WHERE name GLOB '*x*'");
  row_cost("sql_row_of_half", fmt::format("SELECT id, ts_ns, dur_ns, track_id FROM slice WHERE dur_ns > {}", 319));
}

}  // namespace

void bench_sql_filter(const BenchOptions& options) {
  FilterBench bench(options);
  if (bench.ready()) bench.run();
}

}  // namespace accelscope::bench
